/** Starts the three servers of a fleet on this machine for tests, the bench and the supervisor. */
import { chmod, mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Servers } from "./services/find-servers.ts";
import { startNats } from "./services/nats.ts";
import { startPostgres } from "./services/postgres.ts";
import { startRedis } from "./services/redis.ts";
import type { Server } from "./services/server.ts";

export interface ServiceUrls {
  DATABASE_URL: string;
  NATS_URL: string;
  REDIS_URL: string;
}

export interface Services extends AsyncDisposable {
  urls: ServiceUrls;
  nats: Server;
  redis: Server;
  postgres: Server;
}

export interface ServicesOptions {
  servers: Servers;
  /** Each stores its data in a subfolder of its name; a later start reuses it. */
  folder: string;
  /** Whether PostgreSQL survives a power cut; tests do not need that. */
  durable?: boolean;
  /** What PostgreSQL begins with, as in `startPostgres`. */
  template?: string | null | undefined;
}

/** Resolves when all three answer. @throws Error that names the failing one; then all are stopped */
export async function startServices({ servers, folder, durable = false, template }: ServicesOptions): Promise<Services> {
  const home = resolve(folder);
  await mkdir(home, { recursive: true });
  // PostgreSQL may run as another user, which needs to traverse this folder; the folders below are closed.
  await chmod(home, 0o711);
  await using stack = new AsyncDisposableStack();
  const starting = [
    startNats({ program: servers.nats, folder: join(home, "nats") }),
    startRedis({ program: servers.redis, folder: join(home, "redis") }),
    startPostgres({ program: servers.postgres, folder: join(home, "postgres"), durable, template }),
  ] as const;
  for (const outcome of await Promise.allSettled(starting)) if (outcome.status === "fulfilled") stack.use(outcome.value);
  const [nats, redis, postgres] = await Promise.all(starting);
  const kept = stack.move();
  return {
    urls: { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url },
    nats,
    redis,
    postgres,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
