/** `npm run chaos`: disturbs or restarts a fleet of real processes on real servers under load, and checks every invariant afterwards. */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { help } from "./bootstrap/help.mjs";
import { findServers, type Servers } from "./services/find-servers.ts";
import { reportOf, restartsSummaryOf, rollingSummaryOf, summaryOf } from "../test/chaos/harness/report.ts";
import { runRestartsOnOnePort } from "../test/chaos/harness/restarts-on-one-port.ts";
import { runRollingRestart } from "../test/chaos/harness/rolling-restart.ts";
import { runChaos } from "../test/chaos/harness/run-chaos.ts";
import { formerVersion } from "../test/chaos/harness/world/former-version.ts";
import { runAtEnd } from "../test/support/processes/at-end.ts";

/** The help says what each does. */
const options = {
  minutes: { type: "string", default: "5" },
  seed: { type: "string", default: "1" },
  rate: { type: "string", default: "60" },
  longest: { type: "string", default: "30" },
  /** A list of lists; the faults of an inner list happen at the same time. */
  faults: { type: "string" },
  clusters: { type: "boolean", default: false },
  rolling: { type: "boolean", default: false },
  former: { type: "string" },
  streams: { type: "string", default: "200" },
  connections: { type: "string" },
  restarts: { type: "string", default: "10" },
  report: { type: "string", default: "chaos.json" },
  "log-level": { type: "string", default: "error" },
} as const;

const values = readArguments();
const startedAt = performance.now();
const say = (line: string): void => console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(7)} s  ${line}`);

for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

function readArguments() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help.chaos}`);
    process.exit(2);
  }
}

async function main(): Promise<boolean> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start a fleet: ${servers.missing}`);
  if (values.rolling && values.connections !== undefined) return restarts();
  return values.rolling ? rolling(servers) : chaos(servers);
}

async function chaos(servers: Servers): Promise<boolean> {
  const result = await runChaos({
    servers,
    seed: number("seed"),
    seconds: number("minutes") * 60,
    longestFaultMs: number("longest") * 1_000,
    requestsPerSecond: number("rate"),
    logLevel: values["log-level"],
    clusters: values.clusters,
    say,
    ...(values.faults === undefined ? {} : { faults: JSON.parse(values.faults) }),
  });
  writeFileSync(values.report, JSON.stringify(reportOf(result), null, 1));
  console.log(`${summaryOf(result).join("\n")}\nthe whole report is in ${values.report}`);
  return result.violations.length === 0;
}

async function rolling(servers: Servers): Promise<boolean> {
  const load = { streams: number("streams"), streamSeconds: 5, requestsPerSecond: number("rate"), leaveMs: 2_000 };
  await using before = values.former === undefined ? null : await formerVersion(values.former);
  if (before === null && values.former !== undefined) throw new Error(`There is no commit "${values.former}" here`);
  const logLevel = before === null ? values["log-level"] : "info";
  const result = await runRollingRestart({ servers, ...load, logLevel, former: before?.folder, say });
  console.log(rollingSummaryOf(result).join("\n"));
  return result.violations.length === 0;
}

async function restarts(): Promise<boolean> {
  const load = { connections: number("connections"), restarts: number("restarts"), leaveMs: 500 };
  const result = await runRestartsOnOnePort({ ...load, say });
  console.log(restartsSummaryOf(result).join("\n"));
  return result.violations.length === 0;
}

function number(name: "minutes" | "seed" | "rate" | "longest" | "streams" | "connections" | "restarts"): number {
  const value = Number(values[name]);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Error(`--${name} is "${values[name]}": it must be a number above zero`);
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
await runAtEnd();
process.exit();
