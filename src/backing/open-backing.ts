/**
 * Opens the handles that the configuration names. Only the chosen mode loads its libraries: a process on its own needs no NATS, Redis or
 * PostgreSQL, and takes no memory for their clients. Servers of a fleet may start later than its processes. Admission and metering get
 * counters of the fleet. Work that may wait gets its own database connection, so that its statements delay no others.
 */
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { notifying, type Backing, type Database } from "./backing.ts";
import type { Counters } from "./counters.ts";

interface BackingParts {
  config: Config;
  clock: Clock;
  log: Logger;
  /** The kind of process, such as "gateway": shown by the servers. */
  role: string;
}

/**
 * Servers of a fleet may start later: until then the bus is not connected and statements throw. The first process that starts
 * brings the schema up to date by `migrate`.
 * @throws EmbeddedDatabaseError when the embedded database cannot be opened
 */
export async function openBacking({ config, clock, log, role }: BackingParts): Promise<Backing & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const { backends } = config;
  // Only the chosen mode loads its libraries.
  if (backends.mode === "embedded") {
    const { openEmbeddedPostgres } = await import("./embedded/postgres.ts");
    const { EmbeddedBus } = await import("./embedded/bus.ts");
    const { sql } = stack.use(await openEmbeddedPostgres({ folder: join(config.dataDir, "postgres"), clock, log }));
    const bus = stack.use(new EmbeddedBus({ sql, clock, log }));
    const announced = notifying(sql, (topic) => bus.broadcast(topic));
    return { sql: announced, reads: announced, bus, ...ownerOf(stack) };
  }
  const { openPostgresPair } = await import("./postgres/postgres.ts");
  const { DistributedBus } = await import("./nats/bus.ts");
  const applicationName = `weir ${role}`;
  const { databaseUrl: url, databaseReadUrl: readUrl, natsUrl, natsReplicas: replicas } = backends;
  const { sql, reads } = stack.use(openPostgresPair({ url, readUrl, applicationName, clock, log }));
  const bus = stack.use(new DistributedBus({ url: natsUrl, replicas, name: applicationName, clock, log }));
  return { sql: notifying(sql, (topic) => bus.broadcast(topic)), reads, bus, ...ownerOf(stack) };
}

/** The counters of a fleet, for its admission and metering workers; a single process keeps its own in memory. */
export async function openCounters({ config, clock, log }: { config: Config; clock: Clock; log: Logger }): Promise<Counters> {
  const { backends } = config;
  if (backends.mode !== "distributed") throw new Error("Cannot open counters of a fleet: this process has its own");
  const { openDistributedCounters } = await import("./redis/counters.ts");
  return openDistributedCounters({ url: backends.redisUrl, clock, log });
}

/**
 * Separate connections to a fleet's database, whose statements delay no others. Connects on first use, with as many connections as are used
 * at once.
 * @param role shown by the server
 */
export async function openOwnDatabase({
  config,
  clock,
  role,
}: {
  config: Config;
  clock: Clock;
  role: string;
}): Promise<{ sql: Database } & AsyncDisposable> {
  const { backends } = config;
  if (backends.mode !== "distributed") throw new Error("Cannot open a database of a fleet: this process has its own");
  const { openPostgres } = await import("./postgres/postgres.ts");
  return openPostgres({ url: backends.databaseUrl, applicationName: `weir ${role}`, clock });
}

function ownerOf(stack: AsyncDisposableStack): AsyncDisposable {
  const kept = stack.move();
  return { [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
