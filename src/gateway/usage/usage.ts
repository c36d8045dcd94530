/**
 * The usage of a workspace, and of one key for its holder: members see their own, overseers all. With `series`, names beyond the most
 * expensive ones have one row for the whole time, and `periods` has the sums of all names by period, which is all that a chart needs.
 */
import { type Actor, ownerSeenBy } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { findKey, requireSeen } from "../../accounts/keys/keys.ts";
import { selectCallerIds } from "../../accounts/keys/store.ts";
import { FairSemaphore } from "../../accounts/quotas/fair-semaphore.ts";
import type { Database } from "../../backing/backing.ts";
import { type Clock, isoTime } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd } from "../../kernel/money.ts";
import {
  usageRowsDefault,
  keyUsageReadsMax,
  keyUsageReadsPerKeyMax,
  keyUsageWaitingMax,
  keyUsageWaitingPerKeyMax,
  keyUsageWaitMs,
} from "../limits.ts";
import { type UsageFields, periodsOf, type Period, readSpan, type UsageSpan } from "./periods.ts";
import type { UsageView, UsageSums } from "./schema.ts";
import { selectUsage, type UsageQuery, type UsageRowSums } from "./store.ts";

interface AskedUsage {
  actor: Actor;
  workspace: WorkspaceId;
  /** A key of the workspace; null: any. */
  key: KeyId | null;
  /** The email of a member, for all their keys and the Workbench; null: any member. */
  member: string | null;
  /** null: any. */
  model: string | null;
  /** null or absent: any. */
  provider?: string | null;
  fields: UsageFields;
  rowsMax: number;
  /** How many of the names with the highest charges are listed by period; null: all. */
  seriesMax: number | null;
}

/**
 * The usage of a workspace: members see their own, overseers all.
 * @throws DomainError not_found for a key that the actor may not see, and what `readUsage` throws
 */
export async function showUsage(
  { actor, key, member, ...asked }: AskedUsage,
  sources: { sql: Database; clock: Clock },
): Promise<UsageView> {
  return readUsage({ ...asked, keys: await keysOf({ actor, workspace: asked.workspace, key, member }, sources) }, sources);
}

export interface UsageRequest extends Pick<UsageQuery, "workspace" | "keys" | "model" | "provider" | "rank"> {
  /** The caller's query, as texts. */
  fields: UsageFields;
  /** The most rows; the others are summed in one. */
  rowsMax?: number;
  /** How many of the names with the highest charges are listed by period; null: all. */
  seriesMax?: number | null;
}

/** What a workspace used in a span of time. @throws DomainError invalid_field: an invalid time, time zone or dimension */
export async function readUsage(
  { fields, rowsMax = usageRowsDefault, seriesMax = null, ...filter }: UsageRequest,
  { sql, clock }: { sql: Database; clock: Pick<Clock, "now"> },
): Promise<UsageView> {
  const span = readSpan(fields, clock.now());
  const periods = periodsOf(span, span.period);
  const starts = periods.map(({ startMs }) => quarterAt(startMs, span));
  const query = { ...filter, starts, end: quarterAt(span.toMs, span), by: span.dimensions, rowsMax, seriesMax };
  const found = await selectUsage(query, sql);
  const rest = found.rows.filter(({ isRest }) => isRest);
  return {
    from: isoTime(span.fromMs),
    to: isoTime(span.toMs),
    tz: span.zone,
    data: found.rows.filter(({ isRest }) => !isRest).map((row) => viewRow(row, { span, periods })),
    rest: rest.length > 0 ? { rows: Number(rest.reduce((sum, { rows }) => sum + rows, 0n)), ...viewSums(totalOf(rest)) } : null,
    ...(seriesMax !== null && {
      periods: found.periods.map((row) => ({ ...viewPeriod(row, { span, periods }), ...viewSums(row) })),
    }),
    total: viewSums(totalOf(found.rows)),
  };
}

/**
 * Sums what one key used, for its holder. @throws DomainError invalid_field; LimitReachedError while too many ask; errors of the database
 */
export type ReadKeyUsage = (asked: { workspace: WorkspaceId; key: KeyId; fields: UsageFields }) => Promise<UsageView>;

/** Only a few at once, since no rate limit counts these queries. */
export function keyUsage(sources: { sql: Database; clock: Clock }): ReadKeyUsage {
  const limits = {
    runningMax: keyUsageReadsMax,
    runningPerHolderMax: keyUsageReadsPerKeyMax,
    waitingMax: keyUsageWaitingMax,
    waitingPerHolderMax: keyUsageWaitingPerKeyMax,
    waitMs: keyUsageWaitMs,
  };
  const turns = new FairSemaphore({
    clock: sources.clock,
    limits,
    busy: "Too many questions about usage at once; try again shortly",
  });
  return async ({ workspace, key, fields }) => {
    const release = await turns.acquire(key);
    try {
      return await readUsage({ workspace, keys: [key], model: null, fields }, sources);
    } finally {
      release();
    }
  };
}

/** @returns null: all keys of the workspace */
export async function keysOf(
  { actor, workspace, key, member }: Pick<AskedUsage, "actor" | "workspace" | "key" | "member">,
  sources: { sql: Database; clock: Clock },
): Promise<KeyId[] | null> {
  const seen = ownerSeenBy(actor);
  const owner = seen ?? member;
  if (key !== null) {
    const row = requireSeen({ actor, workspace, row: await findKey(key, sources) });
    return member === null || row.owner === member ? [row.id] : [];
  }
  if (owner === null) return null;
  return member !== null && member !== owner ? [] : selectCallerIds({ workspace, owner }, sources.sql);
}

const quarterMs = 900_000;

/** Every zone's offset is a multiple of a quarter of an hour since 1972. */
export function quarterAt(ms: number, { zone }: UsageSpan): number {
  if (ms % quarterMs === 0) return ms / quarterMs;
  const message = `Cannot cut usage at ${isoTime(ms)}, where a period of ${zone} begins or ends: only quarters of an hour are kept`;
  throw new DomainError("invalid_field", message, { field: "tz" });
}

interface Shown {
  span: UsageSpan;
  periods: Period[];
}

function viewRow(row: UsageRowSums, shown: Shown): UsageView["data"][number] {
  return {
    ...viewPeriod(row, shown),
    ...(row.key !== null && { key_id: row.key === "" ? null : row.key, key_name: row.keyName ?? "" }),
    ...(row.member !== null && { member: row.member }),
    ...(row.model !== null && { model: row.model }),
    ...(row.provider !== null && { provider: row.provider }),
    ...(row.endpoint !== null && { endpoint: row.endpoint }),
    ...viewSums(row),
  };
}

function viewPeriod(row: UsageRowSums, { span, periods }: Shown): Pick<UsageView["data"][number], "period" | "starts_at"> {
  const period = periods[row.period - 1];
  return span.period === null || !period ? {} : { period: period.name, starts_at: isoTime(period.startMs) };
}

type Sums = Pick<UsageRowSums, (typeof sumNames)[number]>;

const sumNames = [
  "requests",
  "errors",
  "promptTokens",
  "cachedTokens",
  "cacheWriteTokens",
  "completionTokens",
  "charge",
  "listCost",
] as const;

function viewSums(sums: Sums): UsageSums {
  return {
    requests: Number(sums.requests),
    errors: Number(sums.errors),
    prompt_tokens: Number(sums.promptTokens),
    cached_tokens: Number(sums.cachedTokens),
    cache_write_tokens: Number(sums.cacheWriteTokens),
    completion_tokens: Number(sums.completionTokens),
    cost_usd: formatUsd(sums.charge),
    list_cost_usd: formatUsd(sums.listCost),
  };
}

function totalOf(rows: UsageRowSums[]): Sums {
  const total = (name: (typeof sumNames)[number]): bigint => rows.reduce((sum, row) => sum + row[name], 0n);
  return {
    requests: total("requests"),
    errors: total("errors"),
    promptTokens: total("promptTokens"),
    cachedTokens: total("cachedTokens"),
    cacheWriteTokens: total("cacheWriteTokens"),
    completionTokens: total("completionTokens"),
    charge: total("charge"),
    listCost: total("listCost"),
  };
}
