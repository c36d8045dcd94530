/**
 * What was spent in a month, by day and by one of its dimensions. Every number is from one answer of the control API, so that chart, table
 * and total agree. The largest groups have their own bars. The others are drawn as one, but have their own rows in the table.
 */
import { usageEndpoints } from "../../../control-api/endpoints/usage.ts";
import type { UsageSums, UsageView } from "../../../gateway/usage/schema.ts";
import type { Html } from "../../../http/html.ts";
import { previousMonth, type Month } from "../../../kernel/clock.ts";
import { parseUsd, type NanoUsd } from "../../../kernel/money.ts";
import { barChart } from "../../look/charts.ts";
import { exactUsd, money, roundedUsd } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";
import { dayAt } from "./day-zone.ts";

export const dimensions = ["key", "member", "model", "provider"] as const;
export type Dimension = (typeof dimensions)[number];

export interface SpendRequest {
  month: Month;
  zone: string;
  by: Dimension;
}

/** The sums of one key, member, model or provider. */
export interface SpendGroup {
  /** The key's id, or the name; empty: none, such as the Workbench when grouped by key. */
  id: string;
  label: string;
  requests: number;
  errors: number;
  promptTokens: number;
  completionTokens: number;
  cost: NanoUsd;
  listCost: NanoUsd;
  /** The cost of each day; zeros where the group is drawn with the others. */
  days: NanoUsd[];
}

export interface MonthSpend {
  /** YYYY-MM-DD, in order, up to today. */
  days: string[];
  /** The largest first. */
  groups: SpendGroup[];
  /** What the chart draws for the groups without their own days; null: all have them. */
  others: { count: number; days: NanoUsd[] } | null;
  /** For a file, by day. */
  rows: UsageView["data"];
  /** The smallest sums, which are in no group; null: there are none. */
  rest: UsageView["rest"];
  total: UsageSums;
}

/** Further rows are summed as the rest. */
const rowsMax = 5_000;
/** The largest groups, which a chart draws by themselves. */
const drawnMax = 6;

/**
 * @param isFile with every group's sum of every day, which is too much for a page
 * @throws DomainError invalid_field for a zone whose days do not begin at a quarter of an hour
 */
export async function readMonthSpend(
  call: Pick<PageCall, "control" | "nowMs">,
  { month, zone, by }: SpendRequest,
  { isFile = false } = {},
): Promise<MonthSpend> {
  const next = nextMonth(month);
  const shared = { from: `${month}-01`, to: `${next}-01`, by: `day,${by}`, tz: zone, limit: String(rowsMax) };
  const fields = isFile ? shared : { ...shared, series: String(drawnMax) };
  const { data: rows, rest, periods = [], total } = await call.control(usageEndpoints.sum, fields);
  const days = daysOf(month, dayAt(call.nowMs, zone));
  const groups = groupsOf(rows, { by, days });
  const drawn = new Set(rows.flatMap((row) => (row.period === undefined ? [] : [namesOf(row, by).id])));
  return { days, groups, others: othersOf({ groups, drawn, rest, periods, days }), rows, rest, total };
}

export function nextMonth(month: Month): Month {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 0, 1)).toISOString().slice(0, 7);
}

/** `count` months up to this one, the newest first. */
export function lastMonths(newest: Month, count: number): Month[] {
  return count === 0 ? [] : [newest, ...lastMonths(previousMonth(newest), count - 1)];
}

export function namesOf(row: UsageView["data"][number], by: Dimension): { id: string; label: string } {
  if (by === "key") return { id: row.key_id ?? "", label: row.key_name || (row.key_id ?? "Workbench") };
  const name = row[by] ?? "";
  return { id: name, label: name || "unknown" };
}

interface Drawing {
  groups: SpendGroup[];
  /** The ids of the groups that have days. */
  drawn: ReadonlySet<string>;
  rest: UsageView["rest"];
  periods: NonNullable<UsageView["periods"]>;
  days: string[];
}

/** What the drawn groups leave of each day's sum. */
function othersOf({ groups, drawn, rest, periods, days }: Drawing): MonthSpend["others"] {
  const count = groups.filter(({ id }) => !drawn.has(id)).length + (rest?.rows ?? 0);
  if (count === 0) return null;
  const sums = new Map(periods.map(({ period, cost_usd: cost }) => [period, parseUsd(cost)]));
  const left = days.map((date, day) => groups.reduce((sum, group) => sum - (group.days[day] ?? 0n), sums.get(date) ?? 0n));
  return { count, days: left };
}

/** The days of a month, up to today; of a future month, only the first. */
function daysOf(month: Month, today: string): string[] {
  const count = new Date(Date.parse(`${nextMonth(month)}-01`) - 1).getUTCDate();
  const all = Array.from({ length: count }, (_, index) => `${month}-${String(index + 1).padStart(2, "0")}`);
  const past = all.filter((date) => date <= today);
  return past.length === 0 ? all.slice(0, 1) : past;
}

function groupsOf(rows: UsageView["data"], { by, days }: { by: Dimension; days: string[] }): SpendGroup[] {
  const groups = new Map<string, SpendGroup>();
  const places = new Map<string | undefined, number>(days.map((date, index) => [date, index]));
  for (const row of rows) {
    const { id, label } = namesOf(row, by);
    const group = groups.get(id) ?? emptyGroup({ id, label, days: days.length });
    groups.set(id, group);
    add(group, row, places.get(row.period));
  }
  return withDistinctLabels([...groups.values()]).toSorted((one, other) => compare(other, one));
}

function emptyGroup({ id, label, days }: { id: string; label: string; days: number }): SpendGroup {
  const none = Array.from({ length: days }, () => 0n);
  return { id, label, requests: 0, errors: 0, promptTokens: 0, completionTokens: 0, cost: 0n, listCost: 0n, days: none };
}

/** @param day its index among the days; undefined: the row is of the whole month, or the service's clock is behind */
function add(group: SpendGroup, row: UsageView["data"][number], day: number | undefined): void {
  const cost = parseUsd(row.cost_usd);
  group.requests += row.requests;
  group.errors += row.errors;
  group.promptTokens += row.prompt_tokens;
  group.completionTokens += row.completion_tokens;
  group.cost += cost;
  group.listCost += parseUsd(row.list_cost_usd);
  if (day !== undefined) group.days[day] = (group.days[day] ?? 0n) + cost;
}

/** Keys may share a name; the end of the id tells them apart. */
function withDistinctLabels(groups: SpendGroup[]): SpendGroup[] {
  const counts = new Map<string, number>();
  for (const { label } of groups) counts.set(label, (counts.get(label) ?? 0) + 1);
  return groups.map((group) =>
    (counts.get(group.label) ?? 0) > 1 && group.id !== ""
      ? { ...group, label: `${group.label} (…${group.id.slice(-4)})` }
      : group,
  );
}

function compare(one: SpendGroup, other: SpendGroup): number {
  if (one.cost !== other.cost) return one.cost > other.cost ? 1 : -1;
  return one.requests - other.requests;
}

// The spend of a month as bars by day.

interface SpendChart {
  id: string;
  title: string;
  spend: MonthSpend;
  zone: string;
  empty: Html;
}

export function spendChart({ id, title, spend: { days, groups, others }, zone, empty }: SpendChart): Html {
  const drawn = groups.filter(({ days: values }) => values.some((value) => value > 0n));
  const series = drawn.map(({ label, days: values }) => ({ label, values }));
  const left = others === null ? [] : [{ label: `${others.count} others`, values: others.days }];
  return barChart({
    id,
    title,
    days,
    zone,
    series: [...series, ...left.filter(({ values }) => values.some((value) => value > 0n))],
    words: roundedUsd,
    scaleWords: exactUsd,
    exact: money,
    empty,
  });
}
