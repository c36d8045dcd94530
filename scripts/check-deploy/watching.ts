/** promtool reads the alert rules and runs their tests; Grafana's own types read the dashboard. */
import { join } from "node:path";
import { root, run, ToolMissingError, toolOf } from "./tool.ts";

/** What scripts/alerts.ts ends with where promtool cannot be had. */
const lacksTool = "ended with 2";

export async function checkAlerts(): Promise<string> {
  try {
    await run([process.execPath, "scripts/alerts.ts"]);
    return "promtool accepts the alert rules, which pass their tests";
  } catch (error) {
    throw String(error).includes(lacksTool) ? new ToolMissingError("needs promtool") : error;
  }
}

/** Go fetches Grafana's module the first time. */
export async function checkDashboard(): Promise<string> {
  const go = toolOf("go");
  const seen = await run([go, "run", ".", join(root, "deploy/grafana/weir-dashboard.json")], {
    folder: join(root, "scripts/check-deploy/dashboard"),
  });
  return `Grafana's types know every field of the dashboard's ${seen}`;
}
