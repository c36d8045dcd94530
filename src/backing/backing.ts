/** The three handles that differ between one process and a fleet; everything else is the same code. */
import type { Sql } from "postgres";
import type { Bus } from "./bus.ts";

export type Database = Sql<{ bigint: bigint }>;

export interface Backing {
  sql: Database;
  bus: Bus;
}
