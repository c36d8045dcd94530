/** `npm run chaos -- --minutes M --seed S`: disturbs a fleet of real processes on real servers, and checks what came of it. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { findServers } from "./services/find-servers.ts";
import { reportOf, summaryOf } from "../test/chaos/harness/report.ts";
import { runChaos } from "../test/chaos/harness/run-chaos.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    /** Requests a second. */
    rate: { type: "string", default: "60" },
    /** Seconds that a fault may last at most. */
    longest: { type: "string", default: "30" },
    /** In place of those of the seed: a JSON list of lists of faults. */
    faults: { type: "string" },
    report: { type: "string", default: "" },
    "log-level": { type: "string", default: "error" },
  },
});

const servers = await findServers();
if ("missing" in servers) {
  console.error(`Cannot run: ${servers.missing}`);
  process.exit(1);
}
const startedAt = performance.now();
const say = (line: string): void => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}`);
const result = await runChaos({
  servers,
  seed: Number(values.seed),
  seconds: Number(values.minutes) * 60,
  longestFaultMs: Number(values.longest) * 1_000,
  requestsPerSecond: Number(values.rate),
  logLevel: values["log-level"],
  say,
  ...(values.faults === undefined ? {} : { faults: JSON.parse(values.faults) }),
});
const path = values.report || `chaos-${values.seed}.json`;
writeFileSync(path, JSON.stringify(reportOf(result), null, 1));
console.log(`${summaryOf(result).join("\n")}\nThe whole report is in ${path}`);
process.exit(result.violations.length === 0 ? 0 : 1);
