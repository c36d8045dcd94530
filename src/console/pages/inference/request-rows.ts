/**
 * Rows of requests from the log and from the refused calls, in one order. Both kinds of ids begin with their time, so a page of the mixed
 * list is found by the same cursor in both: where one source may have more rows below its last one, the other's older rows wait for the
 * next page. A filter that one of them cannot meet, such as a code that no ended request has, does not ask it.
 */
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { logEndpoints } from "../../../control-api/endpoints/log.ts";
import { refusalEndpoints } from "../../../control-api/endpoints/refusals.ts";
import { NamedEndpoint } from "../../../gateway/field-parts.ts";
import type { LogView } from "../../../gateway/generations/schema.ts";
import { refusedKeptMax } from "../../../gateway/refusals/limits.ts";
import type { RefusedView } from "../../../gateway/refusals/schema.ts";
import { endingCodes, refusingCodes } from "../../../kernel/errors.ts";
import type { PageCall } from "../../page.ts";
import { isRefused, type RequestRow } from "./request-columns.ts";

/** What a list shows: all requests, or those that were answered, that failed, or that were refused. */
export const shownWords = ["all", "answered", "failed", "refused"] as const;
export type ShownRequests = (typeof shownWords)[number];

export type RequestFilters = Pick<
  GivenTo<typeof logEndpoints.list>,
  "key" | "member" | "model" | "provider" | "endpoint" | "code" | "from" | "to"
>;

interface Asked {
  shown: ShownRequests;
  filters: RequestFilters;
  /** The cursor of the page before, or the id of a request; empty: from the newest. */
  before: string;
  limit: number;
}

export interface RequestRows {
  rows: RequestRow[];
  /** The cursor of the next page; null: there is none. */
  next: string | null;
  /** How many rows of the log were read for a filter without an index; null: there is no such filter. */
  searched: number | null;
}

/** @throws DomainError invalid_field */
export async function readRequestRows(call: Pick<PageCall, "control">, asked: Asked): Promise<RequestRows> {
  const place = asked.before.replace(/^(gen|req)-/, "");
  const [log, refused] = await Promise.all([readLog(call, asked, place), readRefused(call, asked, place)]);
  const merged = newestFirst([...log.data, ...refused]);
  const limit = Math.min(asked.limit, refusedKeptMax);
  const oldestRefused = refused.length >= limit ? refused.at(-1) : undefined;
  const bounds = [log.next?.slice("gen-".length) ?? "", oldestRefused === undefined ? "" : placeOf(oldestRefused)];
  return { ...pageOf(merged, { limit: asked.limit, bound: bounds.toSorted().at(-1) ?? "" }), searched: log.searched };
}

export function newestFirst(rows: readonly RequestRow[]): RequestRow[] {
  return rows.toSorted((one, other) => (placeOf(one) < placeOf(other) ? 1 : -1));
}

async function readLog(call: Pick<PageCall, "control">, { shown, filters, limit }: Asked, place: string): Promise<LogView> {
  const { code, endpoint } = filters;
  const isOfLog = isAmong(code, endingCodes) && isAmong(endpoint, loggedEndpoints);
  if (shown === "refused" || !isOfLog) return { data: [], next: null, searched: null };
  return call.control(logEndpoints.list, {
    ...filters,
    limit: String(limit),
    ...(shown === "answered" && { status: "ok" }),
    ...(shown === "failed" && { status: "error" }),
    ...(place !== "" && { before: `gen-${place}` }),
  });
}

async function readRefused(
  call: Pick<PageCall, "control">,
  { shown, filters: { provider, ...filters }, limit }: Asked,
  place: string,
): Promise<RefusedView[]> {
  // No provider was called.
  if (provider !== undefined) return [];
  if (shown === "answered" || shown === "failed" || !isAmong(filters.code, refusingCodes)) return [];
  const { data } = await call.control(refusalEndpoints.list, {
    ...filters,
    limit: String(Math.min(limit, refusedKeptMax)),
    ...(place !== "" && { before: `req-${place}` }),
  });
  return data;
}

const loggedEndpoints: readonly string[] = NamedEndpoint.anyOf.map((one) => one.const);

function isAmong(value: string | undefined, known: readonly string[]): boolean {
  return value === undefined || known.includes(value);
}

/** What ids have after their prefix: their time, then random digits. */
function placeOf(row: RequestRow): string {
  return (isRefused(row) ? row.request_id : row.generation_id).slice("gen-".length);
}

/**
 * The rows that no unread one is newer than, and where the next page begins.
 * @param bound the place below which a source may have more; empty: none has
 */
function pageOf(merged: RequestRow[], { limit, bound }: { limit: number; bound: string }): Pick<RequestRows, "rows" | "next"> {
  const known = merged.filter((row) => placeOf(row) >= bound);
  const rows = known.slice(0, limit);
  const last = rows.at(-1);
  if (rows.length < known.length && last !== undefined) return { rows, next: placeOf(last) };
  return { rows, next: bound === "" ? null : bound };
}
