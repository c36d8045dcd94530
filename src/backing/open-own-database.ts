/** Separate connections to the database of a fleet: their statements keep no other statement waiting for a connection. */
import type { Config } from "../config.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Database } from "./backing.ts";
import { openPostgres } from "./postgres/postgres.ts";

/** Connects on first use, with as many connections as are used at once. @param role shown by the server */
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
  return openPostgres({ url: backends.databaseUrl, applicationName: `weir ${role}`, clock });
}
