/** Reads all findings of a project in pages, in an order that no decision changes, so that the database serves others between two. */
import type { Database, Transaction } from "../../backing/backing.ts";

/** A finding's place within its project. */
export interface FindingKey {
  package: bigint;
  version: string;
  issue: bigint;
}

/** Before all others. */
export const noFinding: FindingKey = { package: -1n, version: "", issue: -1n };

/**
 * Runs one statement with the plan that reads a page from the index. Without statistics the planner expects few findings, and would
 * sort all the rest of the project for each page.
 */
export function inKeyOrder<Row>(read: (tx: Transaction) => Promise<Row>, sql: Database): Promise<Row> {
  return sql
    .begin("read only", async (tx) => {
      await tx`SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)`;
      return { row: await read(tx) };
    })
    .then(({ row }) => row);
}
