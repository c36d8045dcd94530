/**
 * The gateway's process: `bun src/main.ts`. By its environment it is the whole service, or a front of a fleet, and it loads only the
 * libraries of that mode. The port is checked before anything is opened, so that a refused start leaves no trace and is one line on the
 * output.
 */
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { readConfig, type Config } from "./config.ts";
import { ConfigError } from "./process/environment/variables.ts";
import { systemClock } from "./kernel/clock.ts";
import { openLog, type Logger } from "./kernel/log.ts";
import { firstStartBytesMin } from "./process/limits.ts";
import { openDataFolder, restrictPermissions } from "./process/data-folder.ts";
import { serverSettings, serveMetrics, shutdownSignal } from "./process/serving.ts";
import { type Service, shutDownServer } from "./server/service.ts";
import { startTelemetry } from "./process/telemetry/start-telemetry.ts";

async function main(): Promise<number> {
  const words = process.argv.slice(2);
  if (words.length > 0)
    throw new ConfigError(`Cannot take "${words.join(" ")}": settings are variables, such as PORT=8090 npm start`);
  const config = readConfig();
  const distributed = config.backends.mode === "distributed";
  await refuseTakenPort(config, distributed);
  const creates = !distributed && !existsSync(join(config.dataDir, "postgres"));
  openDataFolder(config.dataDir, creates ? firstStartBytesMin : 0);
  restrictPermissions(config.dataDir);
  const log = openLog(config, "gateway");
  const stopped = shutdownSignal();
  await serveMetrics(config);
  const telemetry = await startTelemetry({ config: config.telemetry, role: "gateway", clock: systemClock, log });
  const service = await openService(config, log);
  const { server } = service.app.listen({
    port: config.port,
    hostname: config.host,
    reusePort: distributed,
    ...serverSettings,
  });
  const providers = [...(service.gateway.models.catalog()?.providers.values() ?? [])];
  const keys = providers.flatMap(({ keyEnv }) => keyEnv ?? []);
  for (const problem of config.unreadVariables(keys)) log.warn({ event: "variable.unread" }, problem);
  log.info({ event: "listening", host: config.host, port: config.port, mode: config.backends.mode });
  const signal = await Promise.race([stopped, service.welcome().then(() => stopped)]);
  log.info({ event: "stopping", signal });
  const waitMs =
    server === null ? 0 : await shutDownServer({ server, service, leaveMs: config.leaveMs, clock: systemClock, log });
  const settled = await service.finish(waitMs);
  await server?.stop(true);
  await service.close();
  await telemetry[Symbol.asyncDispose]();
  log.info({ event: "stopped", unsettled: !settled });
  return 0;
}

/** Checks the port before anything is opened, so that a refused start leaves no trace. */
function refuseTakenPort({ host, port }: Config, shared: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" && shared) return resolve();
      reject(new ConfigError(error.code === "EADDRINUSE" ? `Port ${port} on ${host} is taken: set another PORT` : String(error)));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });
}

/** Loads only the libraries of the configured mode. */
async function openService(config: Config, log: Logger): Promise<Service> {
  const parts = { config, log, clock: systemClock };
  if (config.backends.mode === "distributed") return (await import("./server/distributed.ts")).openDistributed(parts);
  return (await import("./server/embedded.ts")).openEmbedded(parts);
}

/** A refused start is shown as one line, without a stack. */
function isRefusal(error: unknown): error is Error {
  return error instanceof Error && ["ConfigError", "LockedError", "EmbeddedDatabaseError", "MigrationError"].includes(error.name);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(isRefusal(error) ? error.message : error);
  process.exitCode = 1;
}
process.exit();
