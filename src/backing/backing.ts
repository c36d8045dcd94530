/** The handles that differ between one process and a fleet; all other code is the same. open-backing.ts opens them. */
import type { ISql, Sql, TransactionSql } from "postgres";
import type { Bus } from "./bus.ts";

export type Database = Sql<{ bigint: bigint }>;

/** An open transaction. Inside one, only this is used: with a single connection anything else waits for ever. */
export type Transaction = TransactionSql<{ bigint: bigint }>;

/** What a statement runs on: the database or an open transaction. */
export type Queries = ISql<{ bigint: bigint }>;

export interface Backing {
  sql: Database;
  /** For lists and sums that may be two seconds old: a replica where one is configured, else the same as `sql`. */
  reads: Database;
  bus: Bus;
}
