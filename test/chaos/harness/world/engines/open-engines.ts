/** Starts the servers of a run: one of each kind, or clusters. */
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Servers } from "../../../../../scripts/services/find-servers.ts";
import { startNats } from "../../../../../scripts/services/nats.ts";
import { startPostgres } from "../../../../../scripts/services/postgres.ts";
import { startRedis } from "../../../../../scripts/services/redis.ts";
import type { ServiceUrls } from "../../../../../scripts/services.ts";
import { NatsServers } from "./nats-cluster.ts";
import { SingleNats, type NatsEngine } from "./nats-engine.ts";
import { SinglePostgres, type PostgresEngine } from "./postgres-engine.ts";
import { PrimaryAndStandby } from "./postgres-pair.ts";
import { keepWholeFile, SingleRedis, type RedisEngine } from "./redis-engine.ts";
import { RedisMasters } from "./redis-masters.ts";

export interface Engines {
  nats: NatsEngine;
  redis: RedisEngine;
  postgres: PostgresEngine;
}

interface EnginesPlan {
  servers: Servers;
  folder: string;
  areClusters: boolean;
  /** null: the database begins empty. Default: as the tests name it. */
  template?: string | null | undefined;
}

/** Resolves when all answer. @throws Error that names the failing one; then all are stopped */
export async function openEngines({ folder, ...plan }: EnginesPlan): Promise<Engines & AsyncDisposable> {
  await mkdir(folder, { recursive: true });
  // PostgreSQL may run as another user, which needs to traverse this folder; the folders below are closed.
  await chmod(folder, 0o711);
  await using stack = new AsyncDisposableStack();
  const starting = [
    startNatsEngine({ ...plan, folder: join(folder, "nats") }),
    startRedisEngine({ ...plan, folder: join(folder, "redis") }),
    startPostgresEngine({ ...plan, folder: join(folder, "postgres") }),
  ] as const;
  for (const outcome of await Promise.allSettled(starting)) if (outcome.status === "fulfilled") stack.use(outcome.value);
  const [nats, redis, postgres] = await Promise.all(starting);
  const kept = stack.move();
  return { nats, redis, postgres, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

export function urlsOf({ nats, redis, postgres }: Engines): ServiceUrls {
  return { NATS_URL: nats.url, REDIS_URL: redis.url, DATABASE_URL: postgres.url };
}

async function startNatsEngine({ servers, folder, areClusters }: EnginesPlan): Promise<NatsEngine> {
  if (areClusters) return NatsServers.start(servers.nats, folder);
  return new SingleNats(await startNats({ program: servers.nats, folder }), folder);
}

async function startRedisEngine({ servers, folder, areClusters }: EnginesPlan): Promise<RedisEngine> {
  if (areClusters) return RedisMasters.start(servers.redis, folder);
  const server = await startRedis({ program: servers.redis, folder });
  await keepWholeFile(server.url);
  return new SingleRedis(server, folder);
}

async function startPostgresEngine({ servers, folder, areClusters, template }: EnginesPlan): Promise<PostgresEngine> {
  if (areClusters) return PrimaryAndStandby.start(servers.postgres, folder);
  return new SinglePostgres(await startPostgres({ program: servers.postgres, folder, template }));
}
