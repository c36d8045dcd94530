/**
 * `npm run check-deploy`: checks the files in deploy/ with the tools that read them. A check whose tool this machine lacks is skipped, and
 * the output says so. `-- --build-image NAME --base-image NAME` names other base images, if a registry is out of reach.
 */
import { parseArgs } from "node:util";
import { runAtEnd } from "../test/support/processes/at-end.ts";
import { checkAlerts } from "./alerts.ts";
import { help } from "./bootstrap/help.mjs";
import { checkBalancer, checkProxies } from "./check-deploy/proxies.ts";
import { checkChart } from "./check-deploy/chart.ts";
import { checkCompose, checkImage } from "./check-deploy/containers.ts";
import { checkNats, checkUnits, checkDashboard } from "./check-deploy/configuration.ts";
import { ToolMissingError } from "./check-deploy/tool.ts";

const options = { "build-image": { type: "string" }, "base-image": { type: "string" } } as const;
const values = readArguments();
const images = { build: values["build-image"] ?? null, base: values["base-image"] ?? null };

/** Each returns its result in one line. */
const checks: [string, () => Promise<string>][] = [
  ["units", checkUnits],
  ["nats", checkNats],
  ["alerts", checkAlerts],
  ["dashboard", checkDashboard],
  ["chart", checkChart],
  ["compose", checkCompose],
  ["balancer", checkBalancer],
  ["proxies", checkProxies],
  ["image", () => checkImage(images)],
];

function readArguments() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help["check-deploy"]}`);
    process.exit(2);
  }
}

const tally = { passed: 0, failed: 0, skipped: 0 };
for (const [name, check] of checks) {
  try {
    console.log(`ok      ${name}: ${await check()}`);
    tally.passed++;
  } catch (error) {
    const isSkipped = error instanceof ToolMissingError;
    console.log(`${isSkipped ? "skipped" : "FAILED "} ${name}: ${error instanceof Error ? error.message : String(error)}`);
    tally[isSkipped ? "skipped" : "failed"]++;
  }
}
await runAtEnd();
console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
process.exit(tally.failed === 0 ? 0 : 1);
