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
  /** PostgreSQL's initial data, as in `startPostgres`. */
  template?: string | null | undefined;
}

/** Resolves when all three answer. @throws ServerError, which names the server, as soon as one cannot start; the others then stop */
export async function startServices({ servers, folder, durable = false, template }: ServicesOptions): Promise<Services> {
  const home = resolve(folder);
  await mkdir(home, { recursive: true });
  // PostgreSQL may run as another user, who must be able to traverse this folder; the folders below are closed.
  await chmod(home, 0o711);
  const starting = [
    startNats({ program: servers.nats, folder: join(home, "nats") }),
    startRedis({ program: servers.redis, folder: join(home, "redis") }),
    startPostgres({ program: servers.postgres, folder: join(home, "postgres"), durable, template }),
  ] as const;
  const [nats, redis, postgres] = await Promise.all(starting).catch((error: unknown) => {
    // The reason is reported at once. The other servers may take a minute to start, and are stopped as soon as they have.
    for (const server of starting) void server.then((other) => other.stop()).catch(() => {});
    throw error;
  });
  const kept = new AsyncDisposableStack();
  for (const server of [nats, redis, postgres]) kept.use(server);
  return {
    urls: { DATABASE_URL: postgres.url, NATS_URL: nats.url, REDIS_URL: redis.url },
    nats,
    redis,
    postgres,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
