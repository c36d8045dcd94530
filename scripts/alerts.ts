/**
 * `npm run alerts`: checks deploy/prometheus/weir-alerts.yaml with promtool, and runs its tests. It uses promtool on PATH, or on Debian and
 * Ubuntu the one from the package prometheus, unpacked but not installed.
 */
import { join } from "node:path";
import { root, run, ToolMissingError } from "./check-deploy/tool.ts";
import { findHere } from "./services/find-servers.ts";
import { environmentOf } from "./services/program.ts";

/** @throws ToolMissingError without promtool; Error with what it found */
export async function checkAlerts(): Promise<string> {
  const promtool = await findHere("promtool");
  if (promtool === null) throw new ToolMissingError("needs promtool, which comes with Prometheus (on PATH)");
  const options = { folder: join(root, "deploy/prometheus"), environment: environmentOf(promtool) };
  await run([promtool.path, "check", "rules", "weir-alerts.yaml"], options);
  await run([promtool.path, "test", "rules", "weir-alerts.test.yaml"], options);
  return "promtool accepts the alert rules, which pass their tests";
}

if (import.meta.main) {
  try {
    console.log(await checkAlerts());
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = error instanceof ToolMissingError ? 2 : 1;
  }
}
