/** The servers of a fleet on one machine. The supervisor starts them where the three addresses are unset. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../src/process/lock.ts";
import { readOperatorToken } from "../../src/process/own-secrets.ts";
import { findServers } from "../services/find-servers.ts";
import { serverUser } from "../services/postgres.ts";
import { ServerError } from "../services/server.ts";
import { shareCore } from "../services/share-core.ts";
import { startServices, type Services } from "../services.ts";
import { ClusterError } from "./fleet.ts";

export interface OwnServices extends AsyncDisposable {
  /** Addresses and keys for the environment of every process. */
  environment: Record<string, string>;
}

const lookMs = 500;

/**
 * Starts the servers with their data below `dataDir`, where a later start finds it, and restarts the ones that die.
 * @throws ClusterError naming what to install, or the server that cannot start and why
 * @throws LockedError when another process owns the folder
 */
export async function startOwnServices({ dataDir, say }: { dataDir: string; say(line: string): void }): Promise<OwnServices> {
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
  const watch = keepAlive(services, say);
  stack.defer(() => clearInterval(watch));
  readOperatorToken(null, dataDir);
  const kept = stack.move();
  return {
    environment: { ...services.urls, SECRETS_KEY: secretsKey(join(dataDir, "secrets-key")) },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function keepAlive({ nats, redis, postgres }: Services, say: (line: string) => void): ReturnType<typeof setInterval> {
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
  }, lookMs);
}

/** 32 random bytes in base64, made at the first call. */
function secretsKey(path: string): string {
  if (!existsSync(path)) {
    writeFileSync(`${path}.new`, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, "utf8").trim();
}
