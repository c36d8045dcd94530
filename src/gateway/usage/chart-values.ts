/**
 * The values of a chart by period: of the highest names, of the others together, and of all. Spend, requests, tokens and errors are sums of
 * usage.ts, and what the names leave of the sum of all is the others', so no nano-dollar is lost. Codes of errors and times of the first
 * token are counts. A time is the middle of the range that has the quantile, which is within five percent of it.
 */
import type { Database } from "../../backing/backing.ts";
import { type Clock, isoTime } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, parseUsd } from "../../kernel/money.ts";
import { usageHourDaysMax } from "../limits.ts";
import type { Period, UsageSpan } from "./periods.ts";
import {
  type ChartMeasure,
  type ChartValue,
  type ChartView,
  type UsageDimension,
  usageDimensions,
  type UsagePeriod,
  type UsageSums,
  type UsageView,
} from "./schema.ts";
import { selectCounts } from "./store.ts";
import { quarterAt, readUsage } from "./usage.ts";

export const chartGroups = [...usageDimensions, "code"] as const;
export type ChartGroup = (typeof chartGroups)[number];

export interface ChartReading {
  workspace: WorkspaceId;
  /** null: any. */
  keys: KeyId[] | null;
  model: string | null;
  provider: string | null;
  measure: ChartMeasure;
  by: ChartGroup | null;
  step: UsagePeriod;
  span: UsageSpan;
  periods: Period[];
  /** How many names have their own values. */
  seriesMax: number;
  /** How many names are listed. */
  rowsMax: number;
}

export interface ChartSources {
  sql: Database;
  clock: Clock;
}

type Drawn = Pick<ChartView, "data" | "others" | "rest" | "sums" | "total">;

/** Whether it is read from the counts and not from the sums. */
export function isCounted(measure: ChartMeasure, by: ChartGroup | null): boolean {
  return measure === "first_token" || by === "code";
}

// Sums: spend, requests, tokens, and errors unless by code.

type Row = UsageView["data"][number];

export async function summedValues(reading: ChartReading, sources: ChartSources): Promise<Drawn> {
  const { measure, by, span, step, periods, seriesMax } = reading;
  const view = await readSums(
    reading,
    { span, by: by === null ? step : `${step},${by}`, seriesMax: by === null ? null : seriesMax },
    sources,
  );
  const places = new Map(periods.map(({ startMs }, index) => [isoTime(startMs), index]));
  const blank = (): bigint[] => periods.map(() => 0n);
  const all = blank();
  for (const row of by === null ? view.data : (view.periods ?? []))
    add(all, places.get(row.starts_at ?? ""), amountOf(row, measure));
  const total = amountOf(view.total, measure);
  const shared = { rest: view.rest, total: view.total, sums: shown(measure, { values: all, total }) };
  if (by === null) return { ...shared, data: undivided(reading, view, places), others: null };
  const named = namedRows(view.data, { by, measure, places, blank });
  const left = named.reduce((sum, { values }) => sum.map((one, index) => one - (values?.[index] ?? 0n)), all);
  const count = named.filter(({ values }) => values === null).length + (view.rest?.rows ?? 0);
  const others = {
    values: left,
    total: named.reduce((sum, { values, total: one }) => (values === null ? sum : sum - one), total),
  };
  return {
    ...shared,
    data: named.map(({ id, name, values, total: one, sums }) => ({
      id,
      name,
      values: values === null ? null : values.map((part) => written(measure, part)),
      total: written(measure, one),
      sums,
    })),
    others: count === 0 ? null : { count, ...shown(measure, others) },
  };
}

export function readSums(
  { workspace, keys, model, provider, measure, rowsMax, periods }: ChartReading,
  { span, by, seriesMax }: { span: Pick<UsageSpan, "fromMs" | "toMs" | "zone">; by: string; seriesMax: number | null },
  sources: ChartSources,
): Promise<UsageView> {
  const fields = { from: isoTime(span.fromMs), to: isoTime(span.toMs), tz: span.zone, by };
  const rank = measure === "first_token" ? {} : { rank: measure };
  // One for each name, and of the highest names one for each period; without names, one for each period.
  const rows = seriesMax === null ? periodsMax : rowsMax + seriesMax * periods.length;
  return readUsage({ workspace, keys, model, provider, fields, rowsMax: rows, seriesMax, ...rank }, sources);
}

/** Hours of the longest time, and one of a day on which daylight saving ends. */
const periodsMax = (usageHourDaysMax + 1) * 24 + 1;

function amountOf(row: UsageSums, measure: ChartMeasure): bigint {
  if (measure === "spend") return parseUsd(row.cost_usd);
  if (measure === "tokens") return BigInt(row.prompt_tokens + row.completion_tokens);
  return BigInt(measure === "errors" ? row.errors : row.requests);
}

function add(values: bigint[], place: number | undefined, amount: bigint): void {
  if (place !== undefined) values[place] = (values[place] ?? 0n) + amount;
}

/** Tokens have their kinds; all else is one row. */
function undivided(
  { measure, periods }: ChartReading,
  { data, total }: UsageView,
  places: ReadonlyMap<string, number>,
): ChartView["data"] {
  const parts: { id: string; name: string; of: (row: UsageSums) => bigint }[] =
    measure === "tokens" ? tokenKinds : [{ id: "", name: "all", of: (row) => amountOf(row, measure) }];
  return parts.map(({ id, name, of }) => {
    const values = periods.map(() => 0n);
    for (const row of data) add(values, places.get(row.starts_at ?? ""), of(row));
    return { id, name, ...shown(measure, { values, total: of(total) }) };
  });
}

const tokenKinds = [
  { id: "uncached", name: "Tokens in", of: (row: UsageSums) => BigInt(row.prompt_tokens - row.cached_tokens) },
  { id: "cached", name: "Tokens in, from a cache", of: (row: UsageSums) => BigInt(row.cached_tokens) },
  { id: "completion", name: "Tokens out", of: (row: UsageSums) => BigInt(row.completion_tokens) },
];

interface NamedRow {
  id: string;
  name: string;
  values: bigint[] | null;
  total: bigint;
  sums: UsageSums;
}

interface Naming {
  by: ChartGroup;
  measure: ChartMeasure;
  places: ReadonlyMap<string, number>;
  blank: () => bigint[];
}

/** One row for each name, the highest first. Rows with a period are those of the names with their own values. */
function namedRows(rows: readonly Row[], { by, measure, places, blank }: Naming): NamedRow[] {
  const found = new Map<string, NamedRow>();
  for (const row of rows) {
    const { id, name } = nameOf(row, by);
    const one = found.get(id) ?? { id, name, values: row.starts_at === undefined ? null : blank(), total: 0n, sums: noSums };
    found.set(id, one);
    const amount = amountOf(row, measure);
    one.total += amount;
    one.sums = sumOf(one.sums, row);
    if (one.values !== null) add(one.values, places.get(row.starts_at ?? ""), amount);
  }
  return [...found.values()].toSorted((one, other) => Number(other.total > one.total) - Number(other.total < one.total));
}

function nameOf(row: Row, by: ChartGroup): { id: string; name: string } {
  if (by === "key") return { id: row.key_id ?? "", name: row.key_name || (row.key_id ?? "Workbench") };
  const name = by === "code" ? "" : (row[by satisfies UsageDimension] ?? "");
  return { id: name, name: name || "unknown" };
}

const noSums: UsageSums = {
  requests: 0,
  errors: 0,
  prompt_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  completion_tokens: 0,
  cost_usd: formatUsd(0n),
  list_cost_usd: formatUsd(0n),
};

function sumOf(one: UsageSums, other: UsageSums): UsageSums {
  const usd = (name: "cost_usd" | "list_cost_usd"): string => formatUsd(parseUsd(one[name]) + parseUsd(other[name]));
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    prompt_tokens: one.prompt_tokens + other.prompt_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    cache_write_tokens: one.cache_write_tokens + other.cache_write_tokens,
    completion_tokens: one.completion_tokens + other.completion_tokens,
    cost_usd: usd("cost_usd"),
    list_cost_usd: usd("list_cost_usd"),
  };
}

function shown(measure: ChartMeasure, { values, total }: { values: readonly bigint[]; total: bigint }) {
  return { values: values.map((one) => written(measure, one)), total: written(measure, total) };
}

function written(measure: ChartMeasure, amount: bigint): ChartValue {
  return measure === "spend" ? formatUsd(amount) : Number(amount);
}

// Counts: errors by code, and times of the first token.

export async function countedValues(reading: ChartReading, sources: ChartSources): Promise<Drawn> {
  const { measure, span, periods, seriesMax } = reading;
  const { total } = await readSums(reading, { span, by: "", seriesMax: null }, sources);
  const byName = await readCounts(reading, { span, periods }, sources);
  if (measure === "first_token") return { ...timesOf(byName, periods.length), others: null, rest: null, total };
  const codes = [...byName]
    .map(([id, values]) => ({ id, values, total: sumUp(values) }))
    .toSorted((one, other) => Number(other.total - one.total) || (one.id < other.id ? -1 : 1));
  const [drawn, left] = [codes.slice(0, seriesMax), codes.slice(seriesMax)];
  const sums = added(
    codes.map(({ values }) => values),
    periods.length,
  );
  const others = added(
    left.map(({ values }) => values),
    periods.length,
  );
  return {
    data: [
      ...drawn.map(({ id, ...row }) => ({ id, name: id, ...shown(measure, row) })),
      ...left.map(({ id, total: one }) => ({ id, name: id, values: null, total: Number(one) })),
    ],
    others: left.length === 0 ? null : { count: left.length, ...shown(measure, { values: others, total: sumUp(others) }) },
    rest: null,
    sums: shown(measure, { values: sums, total: sumUp(sums) }),
    total,
  };
}

async function readCounts(
  { workspace, keys, model, provider, measure }: ChartReading,
  { span, periods }: Pick<ChartReading, "span" | "periods">,
  { sql }: ChartSources,
): Promise<Map<string, bigint[]>> {
  const starts = periods.map(({ startMs }) => quarterAt(startMs, span));
  const query = { workspace, keys, model, provider, starts, end: quarterAt(span.toMs, span) };
  const byName = new Map<string, bigint[]>();
  for (const { name, period, requests } of await selectCounts(query, measure === "first_token" ? "first_token" : "errors", sql)) {
    const values = byName.get(name) ?? periods.map(() => 0n);
    byName.set(name, values);
    add(values, period - 1, requests);
  }
  return byName;
}

function sumUp(values: readonly bigint[]): bigint {
  return values.reduce((sum, one) => sum + one, 0n);
}

function added(all: readonly (readonly bigint[])[], length: number): bigint[] {
  return Array.from({ length }, (_, index) => sumUp(all.map((values) => values[index] ?? 0n)));
}

const quantiles = [
  { id: "p50", part: 0.5 },
  { id: "p95", part: 0.95 },
] as const;

function timesOf(byRange: ReadonlyMap<string, readonly bigint[]>, length: number): Pick<Drawn, "data" | "sums"> {
  const all = [...byRange.values()];
  const values = added(all, length);
  const timed = Array.from({ length }, (_, period) => rangesIn(byRange, (counts) => counts[period] ?? 0n));
  const whole = rangesIn(byRange, sumUp);
  return {
    data: quantiles.map(({ id, part }) => ({
      id,
      name: id,
      values: timed.map((ranges) => quantile(ranges, part)),
      total: quantile(whole, part),
    })),
    sums: { values: values.map(Number), total: Number(sumUp(values)) },
  };
}

interface RangeCount {
  range: number;
  count: number;
}

function rangesIn(byRange: ReadonlyMap<string, readonly bigint[]>, of: (counts: readonly bigint[]) => bigint): RangeCount[] {
  return [...byRange]
    .map(([range, counts]) => ({ range: Number(range), count: Number(of(counts)) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => one.range - other.range);
}

/** The middle of the range that has it, in milliseconds: within five percent. null: nothing was timed. */
export function quantile(ranges: readonly RangeCount[], part: number): number | null {
  const all = ranges.reduce((sum, { count }) => sum + count, 0);
  let before = 0;
  for (const { range, count } of ranges) {
    before += count;
    if (before >= Math.ceil(all * part)) return Math.round(2 ** ((range + 0.5) / 8));
  }
  return null;
}
