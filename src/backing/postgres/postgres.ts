/** PostgreSQL over TCP: it outlives the server's restarts, and no statement waits longer than databaseDeadlineMs. */
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import type { Database } from "../backing.ts";
import { boundedSql } from "./bounded-sql.ts";
import { ReadPool } from "./read-pool.ts";
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

/** The same with a replica, whose reads may be some seconds old. @param parts.readUrl null: there is none */
export function openPostgresPair({
  readUrl,
  log,
  ...parts
}: SessionParts & { readUrl: Secret | null; log: Logger }): OpenDatabase & { reads: Database } {
  const primary = new SessionPool(parts);
  const sql = boundedSql(primary);
  if (readUrl === null) return { sql, reads: sql, [Symbol.asyncDispose]: () => primary[Symbol.asyncDispose]() };
  const replica = new SessionPool({ ...parts, url: readUrl });
  return {
    sql,
    reads: boundedSql(new ReadPool({ primary, replica, clock: parts.clock, log })),
    async [Symbol.asyncDispose]() {
      await Promise.all([primary[Symbol.asyncDispose](), replica[Symbol.asyncDispose]()]);
    },
  };
}
