/**
 * Reads refused calls. Members see their own, overseers those of the whole workspace, and the operator also the calls without a known key.
 * A call of another member or workspace is not found. Counts are in whole minutes, and in UTC.
 */
import { type Actor, ownerSeenBy } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { selectCallerIds, type Caller } from "../../accounts/keys/store.ts";
import type { Queries } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { isMemberCaller, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import { findCallers } from "../generations/generations.ts";
import { refusedCountRowsDefault, refusedDays, refusedMinuteDaysMax } from "./limits.ts";
import type { RefusalCounts, RefusedList, RefusedView } from "./schema.ts";
import * as store from "./store.ts";

interface Asked {
  actor: Actor;
  /** null: all, for the operator. */
  workspace: WorkspaceId | null;
  /** A key that the actor may see; null: any. */
  key: KeyId | null;
  /** The email of a member; null: any. */
  member: string | null;
}

/** The newest refused calls of a workspace that fit. */
export async function listRefusals(
  { asked, page }: { asked: Asked; page: Omit<store.RefusedListPage, "workspace" | "keys"> },
  sql: Queries,
): Promise<RefusedList> {
  const keys = await keysOf(asked, sql);
  const rows = keys?.length === 0 ? [] : await store.selectRefused({ workspace: asked.workspace, keys, ...page }, sql);
  const callers = await findCallers(rows, sql);
  return { data: rows.map((row) => view(row, callers.get(row.key))) };
}

/** @throws DomainError not_found: no such call, or it is no longer among the newest */
export async function findRefusal(id: string, sql: Queries): Promise<store.RefusedRow> {
  const row = await store.selectRefusedCall(id, sql);
  if (!row) throw refusalNotFound(id);
  return row;
}

export function refusalNotFound(id: string): DomainError {
  const message = `There is no refused call with the id "${id}", or it is no longer among the newest of its workspace`;
  return new DomainError("not_found", message, { field: "id" });
}

/** @throws DomainError not_found even for a call of another member or workspace */
export async function showRefusal(
  { actor, workspace, row }: { actor: Actor; workspace: WorkspaceId; row: store.RefusedRow },
  sql: Queries,
): Promise<RefusedView> {
  if (row.workspace !== workspace) throw refusalNotFound(row.id);
  const caller = (await findCallers([row], sql)).get(row.key);
  const seen = ownerSeenBy(actor);
  if (seen !== null && caller?.email !== seen) throw refusalNotFound(row.id);
  return view(row, caller);
}

const periods = ["minute", "hour", "day"] as const;
export const countedDimensions = [...periods, "key"] as const;

interface CountAsked {
  asked: Asked;
  code: string | null;
  fromMs: number | null;
  toMs: number | null;
  by: readonly (typeof countedDimensions)[number][];
  limit: number;
}

/** How many calls were refused. @throws DomainError invalid_field */
export async function countRefusals(
  { asked, code, by, limit, ...range }: CountAsked,
  { sql, clock }: { sql: Queries; clock: Pick<Clock, "now"> },
): Promise<RefusalCounts> {
  const [period = null, second] = periods.filter((one) => by.includes(one));
  if (second !== undefined)
    throw new DomainError("invalid_field", `Cannot count by ${period} and ${second} at once`, { field: "by" });
  const { fromMs, toMs, isUntilNow } = wholeMinutes(range, clock.now());
  if (period === "minute" && toMs - fromMs > refusedMinuteDaysMax * dayMs)
    throw new DomainError("invalid_field", "Cannot count more than a day by the minute: name from and to", { field: "from" });
  const keys = await keysOf(asked, sql);
  const page = { workspace: asked.workspace, keys, code, fromMs, toMs, isUntilNow };
  const dimensions = { period, key: by.includes("key") };
  const rows = keys?.length === 0 ? [] : await store.selectRefusalCounts({ page, by: dimensions, limit: limit + 1 }, sql);
  const listed = rows.slice(0, limit);
  const whole =
    rows.length > limit
      ? await store.selectRefusalCounts({ page, by: { period: null, key: false }, limit: refusedCountRowsDefault }, sql)
      : rows;
  const callers = dimensions.key ? await findCallers(listed, sql) : new Map<KeyId, Caller>();
  return {
    from: isoTime(fromMs),
    to: isoTime(toMs),
    data: listed.map(({ start, key, code: counted, calls }) => ({
      ...(period !== null && { starts_at: isoTime(start * minuteMs) }),
      ...(dimensions.key && { ...keyOf(key, callers.get(key)) }),
      code: counted,
      calls: Number(calls),
    })),
    calls: Number(whole.reduce((sum, { calls }) => sum + calls, 0n)),
  };
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** Counts are kept by the minute, and nothing older than 31 days. */
function wholeMinutes(
  { fromMs, toMs }: Pick<CountAsked, "fromMs" | "toMs">,
  nowMs: number,
): { fromMs: number; toMs: number; isUntilNow: boolean } {
  const first = nowMs - refusedDays * dayMs;
  const to = Math.ceil(Math.min(toMs ?? nowMs, nowMs + minuteMs) / minuteMs) * minuteMs;
  const from = Math.floor(Math.max(fromMs ?? first, first) / minuteMs) * minuteMs;
  return { fromMs: Math.min(from, to), toMs: to, isUntilNow: to >= nowMs };
}

/** @returns null: all callers */
async function keysOf({ actor, workspace, key, member }: Asked, sql: Queries): Promise<KeyId[] | null> {
  const seen = ownerSeenBy(actor);
  if (seen !== null && member !== null && member !== seen) return [];
  const owner = seen ?? member;
  if (owner === null) return key === null ? null : [key];
  const own = await selectCallerIds({ workspace, owner }, sql);
  return key === null ? own : own.filter((id) => id === key);
}

function view(row: store.RefusedRow, caller: Caller | undefined): RefusedView {
  const { id, workspace, key, at, endpoint, model, status, code, message, param, retryAfterMs } = row;
  return {
    request_id: id,
    workspace_id: workspace,
    at: isoTime(at.getTime()),
    key_id: isMemberCaller(key) ? null : key,
    key_name: caller?.keyName ?? null,
    member: caller?.email ?? null,
    endpoint,
    model,
    status,
    code,
    message,
    param,
    retry_after_ms: retryAfterMs,
  };
}

function keyOf(key: KeyId, caller: Caller | undefined): Pick<RefusalCounts["data"][number], "key_id" | "key_name" | "member"> {
  const isMember = isMemberCaller(key);
  const name = isMember ? "Workbench" : (caller?.keyName ?? null);
  return { key_id: isMember || key === "" ? null : key, key_name: name, member: caller?.email ?? null };
}
