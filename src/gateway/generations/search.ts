/** Finds requests by what no index has: reads the log from its newest row on, and a bounded part of it at a time. */
import type { GenerationId } from "../../kernel/ids.ts";
import { logSearchReadRowsMax, logSearchReadsMax, logSearchRowsMax } from "../limits.ts";
import type { GenerationRow, LogPage } from "./store.ts";

export interface OutcomeFilter {
  /** `error`: a status of 400 or above, as usage counts errors; null: any. */
  status: "ok" | "error" | null;
  /** The code of an error; null: any. */
  code: string | null;
}

export interface Sought extends OutcomeFilter {
  /** Where the log is read by keys, whose index has no models; null: any. */
  model: string | null;
}

export type SoughtRow = Pick<GenerationRow, "generation" | "model" | "status" | "code">;

export interface Found {
  generations: GenerationId[];
  /** Where an older part begins; null: there is none. */
  next: GenerationId | null;
  /** How many rows were read for it. */
  searched: number;
}

export function isSought({ status, code, model }: Sought): boolean {
  return status !== null || code !== null || model !== null;
}

function isMatch(row: SoughtRow, { status, code, model }: Sought): boolean {
  if (code !== null && row.code !== code) return false;
  if (model !== null && row.model !== model) return false;
  return status === null || (status === "error") === row.status >= 400;
}

/**
 * The newest matches of a page, out of a bounded number of rows.
 * @param read reads a page of the log
 * @param parts how many indexes `read` reads for a page, each from its newest row on
 */
export async function searchLog(
  { page, sought, parts }: { page: LogPage; sought: Sought; parts: number },
  read: (page: LogPage) => Promise<SoughtRow[]>,
): Promise<Found> {
  const found: Found = { generations: [], next: page.before, searched: 0 };
  const limitMax = Math.max(100, Math.floor(logSearchReadRowsMax / parts));
  // Small at first: where most rows match, one read is enough.
  let limit = Math.min(Math.max(page.limit, 100), limitMax);
  for (let reads = 0; reads < logSearchReadsMax && found.searched < logSearchRowsMax; reads++) {
    const rows = await read({ ...page, before: found.next, limit });
    if (take(rows, { page, sought, found })) return found;
    if (rows.length < limit) return { ...found, next: null };
    limit = Math.min(limit * 4, limitMax);
  }
  return found;
}

/** @returns whether the page is full */
function take(rows: SoughtRow[], { page, sought, found }: { page: LogPage; sought: Sought; found: Found }): boolean {
  for (const row of rows) {
    found.next = row.generation;
    found.searched++;
    if (isMatch(row, sought)) found.generations.push(row.generation);
    if (found.generations.length === page.limit) return true;
  }
  return false;
}
