/** Finds requests by their outcome, which no index has: reads the log from its newest row on, and a bounded part of it at a time. */
import type { GenerationId } from "../../kernel/ids.ts";
import { logSearchReadRowsMax, logSearchReadsMax, logSearchRowsMax } from "../limits.ts";
import type { GenerationRow, LogPage } from "./store.ts";

export interface OutcomeFilter {
  /** `error`: a status of 400 or above, as usage counts errors; null: any. */
  status: "ok" | "error" | null;
  /** The code of an error; null: any. */
  code: string | null;
}

export type OutcomeRow = Pick<GenerationRow, "generation" | "status" | "code">;

export interface Found {
  generations: GenerationId[];
  /** Where an older part begins; null: there is none. */
  next: GenerationId | null;
  /** How many rows were read for it. */
  searched: number;
}

export function isFiltered({ status, code }: OutcomeFilter): boolean {
  return status !== null || code !== null;
}

function isMatch(row: OutcomeRow, { status, code }: OutcomeFilter): boolean {
  if (code !== null && row.code !== code) return false;
  return status === null || (status === "error") === row.status >= 400;
}

/**
 * The newest matches of a page, out of a bounded number of rows.
 * @param read reads a page of the log
 * @param parts how many indexes `read` reads for a page, each from its newest row on
 */
export async function searchLog(
  { page, outcome, parts }: { page: LogPage; outcome: OutcomeFilter; parts: number },
  read: (page: LogPage) => Promise<OutcomeRow[]>,
): Promise<Found> {
  const found: Found = { generations: [], next: page.before, searched: 0 };
  const limitMax = Math.max(100, Math.floor(logSearchReadRowsMax / parts));
  // Small at first: where most rows match, one read is enough.
  let limit = Math.min(Math.max(page.limit, 100), limitMax);
  for (let reads = 0; reads < logSearchReadsMax && found.searched < logSearchRowsMax; reads++) {
    const rows = await read({ ...page, before: found.next, limit });
    if (take(rows, { page, outcome, found })) return found;
    if (rows.length < limit) return { ...found, next: null };
    limit = Math.min(limit * 4, limitMax);
  }
  return found;
}

/** @returns whether the page is full */
function take(rows: OutcomeRow[], { page, outcome, found }: { page: LogPage; outcome: OutcomeFilter; found: Found }): boolean {
  for (const row of rows) {
    found.next = row.generation;
    found.searched++;
    if (isMatch(row, outcome)) found.generations.push(row.generation);
    if (found.generations.length === page.limit) return true;
  }
  return false;
}
