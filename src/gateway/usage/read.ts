/** What a workspace used in a span of time. */
import { DomainError } from "../../accounts/errors.ts";
import type { Database } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { formatUsd } from "../../kernel/money.ts";
import { usageRowsDefault } from "../limits.ts";
import { periodsOf, type Period } from "./periods.ts";
import type { UsageSums, UsageView } from "./schema.ts";
import { readSpan, type UsageFields, type UsageSpan } from "./span.ts";
import { selectUsage, type UsageQuery } from "./usage-store.ts";
import type { UsageRowSums } from "./usage-sums-store.ts";

interface UsageRequest extends Pick<UsageQuery, "workspace" | "keys" | "model"> {
  /** What the caller asks for, as texts. */
  fields: UsageFields;
  /** Rows at most; the others are summed in one. */
  rowsMax?: number;
  /** How many of the dearest names are listed by period; null: all. */
  seriesMax?: number | null;
}

/** @throws DomainError invalid_field: a time, a time zone or a dimension that cannot be taken */
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

const quarterMs = 900_000;

/** Every zone's offset is a multiple of a quarter of an hour since 1972. */
function quarterAt(ms: number, { zone }: UsageSpan): number {
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
