/**
 * The process of a worker: `bun workers/main.ts admission|metering|prober|mailer|scanner`, or `background` for the last three together. A
 * process loads only the code of its kind, and shuts down in order on a signal.
 */
import { untilSchema } from "../src/backing/migrate.ts";
import { openBacking } from "../src/backing/open-backing.ts";
import { answerRollCalls } from "../src/backing/fleet-state.ts";
import { readWorkerConfig } from "../src/config.ts";
import { ConfigError } from "../src/process/environment/variables.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { openLog } from "../src/kernel/log.ts";
import { restrictPermissions } from "../src/process/data-folder.ts";
import { startTelemetry } from "../src/process/telemetry/start-telemetry.ts";
import { serveMetrics, shutdownSignal } from "../src/process/serving.ts";
import type { StartKind } from "./kind.ts";

/** The kinds of workers by their command-line names. A process loads only the code of its kind. */
const kinds: Record<string, () => Promise<{ start: StartKind }>> = {
  admission: () => import("./admission.ts"),
  metering: () => import("./metering.ts"),
  prober: () => import("./prober.ts"),
  mailer: () => import("./mailer.ts"),
  scanner: () => import("./scanner.ts"),
  background: () => import("./background.ts"),
};

async function main(): Promise<void> {
  const [kind = ""] = process.argv.slice(2);
  const load = kinds[kind];
  if (!load) throw new ConfigError(`Cannot start a worker "${kind}": the kinds are ${Object.keys(kinds).join(", ")}`);
  const config = readWorkerConfig();
  if (config.backends.mode === "embedded") {
    throw new ConfigError("A worker needs DATABASE_URL, NATS_URL and REDIS_URL: npm start runs all workers inside one process");
  }
  restrictPermissions(config.dataDir);
  const { start } = await load();
  const clock = systemClock;
  const log = openLog(config, kind);
  const stopped = shutdownSignal();
  await using stack = new AsyncDisposableStack();
  stack.use(await serveMetrics(config));
  stack.use(await startTelemetry({ config: config.telemetry, role: kind, clock, log }));
  const backing = stack.use(await openBacking({ config, log, clock, role: kind }));
  stack.use(answerRollCalls(kind, { ...backing, clock, log }));
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  await untilSchema({ ...backing, clock, log }, stopping.signal);
  stack.use(await start({ config, backing, clock, log }));
  log.info({ event: "started", kind });
  log.info({ event: "stopping", signal: await stopped });
}

try {
  await main();
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}
process.exit();
