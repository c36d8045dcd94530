/** The three handles that differ between one process and a fleet; everything else is the same code. */
import type { Sql } from "postgres";
import type { Bus } from "./bus.ts";
import type { Counters } from "./counters.ts";

export type Database = Sql<{ bigint: bigint }>;

export interface Backing {
  sql: Database;
  bus: Bus;
}
