/** The process of a worker: `bun workers/main.ts admission|metering|prober|mailer|scanner`. */
import { constants, setPriority } from "node:os";
import type { Backing } from "../src/backing/backing.ts";
import { tryAdvisoryLock } from "../src/backing/advisory-lock.ts";
import { untilSchema } from "../src/backing/await-schema.ts";
import { openBacking } from "../src/backing/open-backing.ts";
import { openCounters } from "../src/backing/open-counters.ts";
import { answerRollCalls } from "../src/backing/roll-call.ts";
import { readWorkerConfig, type Config } from "../src/config.ts";
import { ConfigError } from "../src/process/variables.ts";
import { systemClock } from "../src/kernel/clock.ts";
import { openLog, type Logger } from "../src/kernel/log.ts";
import { restrictPermissions } from "../src/process/restrict-permissions.ts";
import { startTelemetry } from "../src/process/telemetry/start-telemetry.ts";
import { serveMetrics } from "../src/process/metrics-port.ts";
import { openModels, type Models } from "../src/gateway/models/models.ts";
import { embeddingCalls } from "../src/gateway/providers/embed.ts";
import { providerCalls } from "../src/gateway/providers/http.ts";
import { launchCheckClocks } from "../src/gateway/providers/launch-check.ts";
import { shutdownSignal } from "../src/process/shutdown-signal.ts";
import { startAdmission } from "./admission.ts";
import { startFormerSboms } from "./former-sboms.ts";
import { startMailer } from "./mailer.ts";
import { startMetering } from "./metering.ts";
import { startProber } from "./prober.ts";
import { startScanner } from "./scanner.ts";
import { startTopUps } from "./top-ups.ts";

interface Parts {
  config: Config;
  backing: Backing;
  clock: typeof systemClock;
  log: Logger;
}

/** The kinds of workers, by their name on the command line. */
const kinds: Record<string, (parts: Parts, stack: AsyncDisposableStack) => Promise<AsyncDisposable>> = {
  async admission({ config, backing, clock, log }, stack) {
    const counters = stack.use(await openCounters({ config, clock, log }));
    const models = stack.use(await modelsOf({ config, backing, clock, log }));
    return startAdmission({ backing, counters, models, clock, log });
  },
  async metering({ config, backing, clock, log }, stack) {
    const counters = stack.use(await openCounters({ config, clock, log }));
    const lock = (name: string) => tryAdvisoryLock(name, { ...backing, clock });
    const { stripe, publicUrl } = config;
    stack.use(startTopUps({ backing, counters, stripe, publicUrl, lock, clock, log }));
    return startMetering({ backing, counters, lock, clock, log });
  },
  async prober({ config, backing, clock, log }, stack) {
    const models = stack.use(await modelsOf({ config, backing, clock, log }));
    const settled = { clock, clocks: launchCheckClocks(config.clocks), providerKey: config.providerKey };
    const calls = { call: providerCalls(settled), embed: embeddingCalls(settled) };
    const lock = () => tryAdvisoryLock("weir prober", { ...backing, clock });
    return startProber({ ...backing, models, ...calls, clock, log, lock });
  },
  async mailer({ config, backing, clock, log }) {
    const lock = () => tryAdvisoryLock("weir mailer", { ...backing, clock });
    return startMailer({ ...backing, mail: config.mail, clock, log, lock });
  },
  async scanner({ config, backing, clock, log }, stack) {
    // Scans have low priority, so that chat requests get the CPU first.
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    stack.use(startFormerSboms({ ...backing, clock, log, sbomsKept: config.sbomsKept }));
    return startScanner({ ...backing, clock, log });
  },
};

function modelsOf({ config, backing, clock, log }: Parts): Promise<Models> {
  const { catalogDir: folder, sandbox, providerKey } = config;
  return openModels({ folder, sandbox, ...backing, clock, log, providerKey });
}

async function main(): Promise<void> {
  const [kind = ""] = process.argv.slice(2);
  const start = kinds[kind];
  if (!start) throw new ConfigError(`Cannot start a worker "${kind}": the kinds are ${Object.keys(kinds).join(", ")}`);
  const config = readWorkerConfig();
  if (config.backends.mode === "embedded") {
    throw new ConfigError("A worker needs DATABASE_URL, NATS_URL and REDIS_URL: npm start runs all workers inside one process");
  }
  restrictPermissions(config.dataDir);
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
  stack.use(await start({ config, backing, clock, log }, stack));
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
