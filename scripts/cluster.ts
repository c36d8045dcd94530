/**
 * `npm run cluster`: runs a fleet on one machine under one supervisor, which also starts the three servers if their addresses are unset,
 * with their data below DATA_DIR, and restarts what dies. fleet.ts has the processes.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve, join } from "node:path";
import { parseArgs } from "node:util";
import { readConfig, type Config } from "../src/config.ts";
import { openDataFolder } from "../src/process/data-folder.ts";
import { ConfigError } from "../src/process/environment/variables.ts";
import { LockedError, takeLock } from "../src/process/lock.ts";
import { readOperatorToken } from "../src/process/own-secrets.ts";
import { ownAddress, weirCommand } from "../src/server/weir-command.ts";
import { bunEnvironment, endingWithParent } from "./bootstrap/bun-environment.mjs";
import { help } from "./bootstrap/help.mjs";
import { ClusterError, metricsPorts, membersOf, stopGroups, type Sizes, Fleet } from "./fleet.ts";
import { startServices, type Services } from "./services.ts";
import { findServers } from "./services/find-servers.ts";
import { isFree } from "./services/ports.ts";
import { serverUser } from "./services/postgres.ts";
import { ServerError } from "./services/server.ts";
import { shareCore } from "./services/share-core.ts";

const root = dirname(import.meta.dir);
const processesMax = 64;
const readyMsMax = 120_000;
const readyLookMs = 200;
/** A signal that follows within this time belongs to the same Ctrl-C. */
const sameSignalMs = 1_000;
const serversLookMs = 500;

function say(line: string): void {
  console.error(`cluster: ${line}`);
}

async function main(): Promise<void> {
  const { sizes, port } = readArguments();
  const given = { ...bunEnvironment, ...process.env, NODE_ENV: "production", ...(port === undefined ? {} : { PORT: port }) };
  const settings = readConfig(given);
  if (!(await isFree(settings.port, settings.host))) {
    throw new ClusterError(`Port ${settings.port} on ${settings.host} is taken: set another PORT`);
  }
  const names = stopGroups.flat().flatMap((role) => membersOf(role, sizes));
  const ports = await metricsPorts({ first: settings.metricsPort, host: settings.metricsHost, port: settings.port, names });
  const dataDir = resolve(settings.dataDir);
  openDataFolder(dataDir, 0);
  await using stack = new AsyncDisposableStack();
  const own = settings.backends.mode === "embedded" ? stack.use(await startOwnServices(dataDir)) : null;
  const environment = { ...given, DATA_DIR: dataDir, ...endingWithParent, ...own?.environment };
  const config = readConfig(environment);
  const fleet = new Fleet({ root, sizes, environment, metricsPorts: ports, say });
  const stopped = untilStopped(fleet);
  const ready = await Promise.race([untilReady(config), stopped]);
  if (ready === "ready") printWelcome({ config, fleet, own: own !== null, ports });
  say(`${await stopped}: stopping gateways, then workers, then the rest`);
  await fleet.stop();
}

function readArguments(): { sizes: Sizes; port: string | undefined } {
  const type = "string" as const;
  const options = {
    gateways: { type, default: "2" },
    workers: { type, default: "2" },
    metering: { type, default: "1" },
    port: { type },
  } as const;
  try {
    const { values } = parseArgs({ options });
    const { gateways, workers, metering, port } = values;
    return { sizes: { gateways: count(gateways), workers: count(workers), metering: count(metering) }, port };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ClusterError(`${why}\n\n${help.cluster}`);
  }
}

function count(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= processesMax) return number;
  throw new ClusterError(`"${text}" is not a number of processes from 1 to ${processesMax}`);
}

/** Resolves at the first signal. A later one kills everything at once. */
function untilStopped(fleet: Fleet): Promise<string> {
  return new Promise((resolveStopped) => {
    let signalledMs: number | null = null;
    const stop = (signal: string) => {
      if (signalledMs === null) {
        signalledMs = performance.now();
        resolveStopped(signal);
      } else if (performance.now() - signalledMs > sameSignalMs) {
        fleet.kill();
        process.exit(130);
      }
    };
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop(signal));
  });
}

async function untilReady(config: Config): Promise<"ready" | "late"> {
  const deadline = performance.now() + readyMsMax;
  while (performance.now() < deadline) {
    const answer = await fetch(`${ownAddress(config)}/ready`, { keepalive: false }).catch(() => null);
    if (answer?.status === 200) return "ready";
    await new Promise((resolveLook) => setTimeout(resolveLook, readyLookMs));
  }
  say(`not ready after ${readyMsMax / 1_000} s: ${ownAddress(config)}/ready lists what is missing`);
  return "late";
}

interface Started {
  config: Config;
  fleet: Fleet;
  /** Whether the supervisor started the servers. */
  own: boolean;
  /** The metrics port of each process. */
  ports: ReadonlyMap<string, number>;
}

function printWelcome({ config, fleet, own, ports }: Started): void {
  const lines = [
    ``,
    `The fleet is ready at ${ownAddress(config)}: ${fleet.summary}${own ? `, with its servers' data in ${config.dataDir}/servers` : ""}`,
    ``,
    `  curl ${ownAddress(config)}/ready`,
    `  ${weirCommand(config)} key create --workspace default --owner owner@localhost --name "my key"`,
    ...(config.console
      ? [`  ${config.publicUrl}/console    (the Console)`]
      : [
          `  CONSOLE=on npm run cluster    (switches the Console on, which is off in a fleet; with PUBLIC_URL=https://… where people reach it)`,
        ]),
    ...(config.sandbox ? [] : [`  SANDBOX=on npm run cluster    (adds the model sandbox/echo, to try it without a provider)`]),
    ...(ports.size === 0 ? [] : [``, `Metrics at http://${config.metricsHost}:PORT/metrics:`]),
    ...[...ports].map(([name, port]) => `  ${port}  ${name}`),
    ``,
    `Ctrl-C stops the fleet in order; a second Ctrl-C kills it.`,
  ];
  console.log(lines.join("\n"));
}

/**
 * Starts the servers with their data below `dataDir`, where a later start finds it, and restarts servers that die.
 * @returns addresses and keys for the environment of every process
 * @throws ClusterError naming what to install, or the server that cannot start and why
 * @throws LockedError when another process owns the folder
 */
async function startOwnServices(dataDir: string) {
  const servers = await findServers();
  if ("missing" in servers) throw new ClusterError(`Cannot start the servers of a fleet: ${servers.missing}`);
  await using stack = new AsyncDisposableStack();
  stack.use(await takeLock(dataDir));
  // PostgreSQL does not run as root, and its user must pass through this folder. Secret files have permissions that exclude it.
  if (serverUser() !== null) chmodSync(dataDir, 0o711);
  const services = stack.use(
    await startServices({ servers, folder: join(dataDir, "servers"), durable: true }).catch((error: unknown) => {
      if (!(error instanceof ServerError)) throw error;
      throw new ClusterError(
        `${error.message}\nRepair or replace that program (the first one on PATH is taken), or set DATABASE_URL, NATS_URL and REDIS_URL to servers that run`,
      );
    }),
  );
  shareCore([services.nats.pid, services.redis.pid]);
  const watch = keepAlive(services);
  stack.defer(() => clearInterval(watch));
  readOperatorToken(null, dataDir);
  const kept = stack.move();
  return {
    environment: { ...services.urls, SECRETS_KEY: secretsKey(join(dataDir, "secrets-key")) },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function keepAlive({ nats, redis, postgres }: Services): ReturnType<typeof setInterval> {
  const restarting = new Set<string>();
  return setInterval(() => {
    for (const server of [nats, redis, postgres]) {
      if (server.pid !== 0 || restarting.has(server.name)) continue;
      say(`${server.name} ended: restarting`);
      restarting.add(server.name);
      void server
        .restart()
        .then(() => shareCore([nats.pid, redis.pid]))
        .catch((error: unknown) => say(error instanceof ServerError ? error.message : String(error)))
        .finally(() => restarting.delete(server.name));
    }
  }, serversLookMs);
}

/** 32 random bytes in base64, made at the first call. */
function secretsKey(path: string): string {
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, "utf8").trim();
}

try {
  await main();
  process.exitCode = 0;
} catch (error) {
  const expected = error instanceof ClusterError || error instanceof ConfigError || error instanceof LockedError;
  console.error(expected ? error.message : error);
  process.exitCode = 1;
}
process.exit();
