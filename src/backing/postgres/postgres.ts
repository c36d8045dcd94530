/** PostgreSQL over TCP: it outlives the server's restarts, and no statement waits longer than databaseDeadlineMs. */
import type { Database } from "../backing.ts";
import { boundedSql } from "./bounded-sql.ts";
import { SessionPool } from "./session-pool.ts";
import type { SessionParts } from "./session.ts";

export interface OpenDatabase extends AsyncDisposable {
  sql: Database;
}

/** Connects on first use. Statements throw while the server is away, and work again once it is back. */
export function openPostgres(parts: SessionParts): OpenDatabase {
  const pool = new SessionPool(parts);
  return { sql: boundedSql(pool), [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}
