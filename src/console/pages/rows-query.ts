/**
 * Pages a list by the number of skipped rows in the address. It reads one row more than it shows, to see whether a page follows, so that
 * nothing has to be counted. Lists that have a cursor use that instead.
 */
import { markup, type Html } from "../../http/html.ts";
import { address } from "../look/forms.ts";
import { cursorLinks } from "../look/parts.ts";
import type { PageCall } from "../page.ts";

/** Rows of a list on one page. */
export const pageRows = 50;

/** A value that is not a number means the first page. */
export function skippedRows({ query }: Pick<PageCall, "query">): number {
  const text = query.get("skip") ?? "";
  return /^\d{1,8}$/.test(text) ? Number(text) : 0;
}

/** `limit` and `offset` for the control API: one row more than is shown, to see whether a page follows. */
export function rowsInput(call: Pick<PageCall, "query">) {
  return { limit: String(pageRows + 1), offset: String(skippedRows(call)) };
}

/** @param found the rows of the answer @param filters of the address, kept by the links */
export function rowsLinks(
  call: PageCall,
  { found, what, filters = {} }: { found: number; what: string; filters?: Record<string, string> },
): Html {
  const skipped = skippedRows(call);
  const shown = Math.min(found, pageRows);
  const words = `${what} ${skipped + 1} to ${skipped + shown}`;
  const nextPath = found > pageRows ? address(call.path, { ...filters, skip: String(skipped + pageRows) }) : null;
  const firstPath = skipped > 0 ? address(call.path, filters) : null;
  return markup`${cursorLinks({ shown: words, firstPath, nextPath })}`;
}
