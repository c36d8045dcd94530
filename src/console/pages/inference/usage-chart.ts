/**
 * The chart of usage on Home, Spend and the pages of a key, a member, a model and an own
 * provider key: what was asked in the address, the answer of the control
 * API, and its drawing with the choices above it. Chart, table and sums are one answer, so they agree to the nano-dollar. Each period leads
 * to the requests behind it.
 *
 * Limits count days and months of UTC, so their lines are drawn only there: a day's over bars by day, and a month's over the running total.
 */
import { chartEndpoints } from "../../../control-api/endpoints/usage.ts";
import type { ChartMeasure, ChartValue, ChartView } from "../../../gateway/usage/schema.ts";
import { markup, type Html } from "../../../http/html.ts";
import { firstGenerationId } from "../../../kernel/ids.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { type Chart, chart, type ChartPeriod, type Series } from "../../look/charts.ts";
import { address } from "../../look/forms.ts";
import { content, day, emptyState, exactUsd, money, roundedUsd, shortDay, type Content } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";
import { monthName, zoneOffer } from "./day-zone.ts";
import { duration, type OneThing } from "./request-columns.ts";
import { rangePicker, segments, usageRange, type Segment, type UsageRange } from "./usage-range.ts";

export const groupNames = { key: "Key", member: "Member", model: "Model", provider: "Provider", endpoint: "Endpoint" } as const;
export type Group = keyof typeof groupNames;

/** What a page's chart may show. */
interface Offer {
  usual: "30d" | "month";
  /** The first one is shown if the address names none. */
  groups: readonly Group[];
  /** Only the requests of this key, member, model or provider. */
  only?: OneThing;
}

export interface UsageAsked extends Offer {
  range: UsageRange;
  measure: ChartMeasure;
  /** Empty: undivided. */
  by: Group | "code" | "";
  /** Whether spend is added up over the month. */
  isRunning: boolean;
}

const measureNames: Record<ChartMeasure, string> = {
  spend: "Spend",
  requests: "Requests",
  errors: "Errors",
  tokens: "Tokens",
  first_token: "First token",
};

/** Values of the address that are unknown are ignored. */
export function usageAsked(call: PageCall, offer: Offer): UsageAsked {
  const range = usageRange(call, offer.usual);
  const measure = measuresOf(call, offer).find((one) => one === call.query.get("measure")) ?? "spend";
  const groups = groupsOf(call, { ...offer, measure });
  const by = groups.find((one) => one === call.query.get("by")) ?? groups[0] ?? "";
  return { ...offer, range, measure, by, isRunning: call.query.get("view") === "total" && mayRun({ range, measure }) };
}

function mayRun({ range, measure }: Pick<UsageAsked, "range" | "measure">): boolean {
  return measure === "spend" && range.month !== null;
}

/** Times are counted by key, by model and by provider, but a member's own requests of a model are none of these. */
function isCounted(call: PageCall, { only }: Offer): boolean {
  return only === undefined || "key" in only || "member" in only || call.workspace.role !== "member";
}

function measuresOf(call: PageCall, offer: Offer): ChartMeasure[] {
  return ["spend", "requests", "errors", "tokens", ...(isCounted(call, offer) ? (["first_token"] as const) : [])];
}

/** The first one is the usual. Undivided tokens are drawn by kind. */
function groupsOf(call: PageCall, offer: Offer & { measure: ChartMeasure }): UsageAsked["by"][] {
  const { measure, groups } = offer;
  if (measure === "first_token") return [""];
  if (measure === "tokens") return ["", ...groups];
  return measure === "errors" && isCounted(call, offer) ? ["code", ...groups] : [...groups];
}

export function readUsageChart(call: PageCall, { range, measure, by, isRunning, only }: UsageAsked): Promise<ChartView> {
  const { from, to, zone } = range;
  return call.control(chartEndpoints.show, {
    ...only,
    measure,
    from,
    to,
    tz: zone,
    before: "true",
    ...(by !== "" && !isRunning && { by }),
    limit: String(namesMax),
  });
}

/** Names in the table of sums; further ones are one row. */
const namesMax = 200;

/** In USD, as in the control API; null: there is none. */
export interface SpendLimits {
  day: string | null;
  month: string | null;
}

interface UsageChart {
  asked: UsageAsked;
  view: ChartView;
  /** Such as "Your ": whose usage it is. */
  whose?: string;
  /** Absent: the chart does not show all that they count. */
  limits?: SpendLimits;
}

export function usageChart(call: PageCall, { asked, view, whose = "", limits }: UsageChart): Html {
  const { range, measure, by, isRunning } = asked;
  const what = view.step === "hour" ? "hour" : view.step === "month" ? "month" : "day";
  const name = whose === "" ? title[measure] : `${whose}${title[measure].charAt(0).toLowerCase()}${title[measure].slice(1)}`;
  const parts = by === "" ? "" : ` and ${by}`;
  const shared = {
    id: "usage",
    title: isRunning ? `${name} ${range.words}, running total` : `${name} ${range.words} by ${what}${parts}`,
    periodName: `${what.charAt(0).toUpperCase()}${what.slice(1)} (${view.tz})`,
    periods: periodsOf(call, asked, view),
    ...amountsOf(view),
    empty: nothing(call, asked),
  };
  const drawn = (isRunning ? running : divided)(call, { view, asked, limits });
  return markup`<div id="usage">${range.problem}${choices(call, asked)}${chart({ ...shared, ...drawn })}${zoneOffer(call, range.zone)}</div>`;
}

const title: Record<ChartMeasure, string> = {
  spend: "Spend",
  requests: "Requests",
  errors: "Failed requests",
  tokens: "Tokens",
  first_token: "Time to the first token",
};

const nothingWords: Record<ChartMeasure, string> = {
  spend: "Nothing was spent",
  requests: "No request ended",
  errors: "No request failed",
  tokens: "No tokens were used",
  first_token: "No answer was timed",
};

function nothing(call: PageCall, { measure, range, only }: UsageAsked): Html {
  const requests = address(call.link("/requests"), { ...only });
  return emptyState(
    `${nothingWords[measure]} ${range.words}.`,
    markup`<a class="button quiet" href="${requests}">See the requests</a>`,
  );
}

// Values and words

type Amounts = Required<Pick<Chart, "words" | "scaleWords" | "exact" | "kind">>;

function amountsOf({ unit }: ChartView): Amounts {
  if (unit === "usd") return { words: roundedUsd, scaleWords: exactUsd, exact: (value) => money(value), kind: "money" };
  const words = (value: bigint): string => (unit === "ms" ? duration(Number(value)) : value.toLocaleString("en-US"));
  return { words, scaleWords: words, exact: words, kind: "number" };
}

function valueOf(value: ChartValue): bigint | null {
  if (value === null) return null;
  return typeof value === "string" ? parseUsd(value) : BigInt(value);
}

function valuesOf(values: readonly ChartValue[]): (bigint | null)[] {
  return values.map(valueOf);
}

/** Keys may share a name; the end of the id tells them apart. */
export function distinctNames(rows: ChartView["data"]): string[] {
  const counts = new Map<string, number>();
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  return rows.map(({ id, name }) => ((counts.get(name) ?? 0) > 1 && id !== "" ? `${name} (…${id.slice(-4)})` : name));
}

// Bars by name, or lines of times

interface Answered {
  view: ChartView;
  asked: UsageAsked;
  limits: SpendLimits | undefined;
}

type Drawing = Pick<Chart, "shape" | "series" | "sums" | "before" | "limit" | "forecast" | "notes">;

function divided(call: PageCall, { view, asked, limits }: Answered): Drawing {
  const { data, others, sums, forecast, unit, step, tz } = view;
  const names = distinctNames(data);
  const named = data.flatMap(({ values, total }, index): Series[] => {
    const label = nameOf(asked, names[index] ?? "");
    return values === null ? [] : [{ label, values: valuesOf(values), total: valueOf(total) }];
  });
  const left: Series[] =
    others === null ? [] : [{ label: `${others.count} others`, values: valuesOf(others.values), total: valueOf(others.total) }];
  const isTime = unit === "ms";
  const limit = unit === "usd" && step === "day" && tz === "UTC" && limits?.day ? parseUsd(limits.day) : null;
  const pace = forecast === null ? null : parseUsd(forecast.usd_a_day);
  return {
    shape: isTime ? "lines" : "bars",
    series: [...named, ...left].filter(({ values }) => isTime || values.some((value) => value !== null && value > 0n)),
    ...(!isTime && { sums: { label: sumName, values: valuesOf(sums.values), total: valueOf(sums.total) } }),
    before: beforeOf(view),
    limit: limit === null ? null : { value: limit, label: `Limit ${exactUsd(limit)} a day` },
    forecast: pace === null ? null : view.periods.map(({ starts_at: at }) => (Date.parse(at) > call.nowMs ? pace : null)),
    notes: notesOf(call, { view, asked, limits }),
  };
}

const sumName = "Total";

/** Undivided sums are one series without a name of its own. */
function nameOf({ by, measure }: UsageAsked, name: string): string {
  return by === "" && measure !== "tokens" && measure !== "first_token" ? sumName : name;
}

function beforeOf({ before, unit }: ChartView): Series | null {
  if (before === null || before.values.every((value) => (valueOf(value) ?? 0n) === 0n)) return null;
  const values = valuesOf(before.values);
  return { label: unit === "ms" ? "p50 before" : "Before", values, total: valueOf(before.total) };
}

function notesOf(call: PageCall, { view, asked: { range }, limits }: Answered): Content[] {
  const { sums, unit } = view;
  const timed = (valueOf(sums.total) ?? 0n).toLocaleString("en-US");
  const times = unit === "ms" ? [`${timed} answers were timed; each value is within 5 %.`] : [];
  return [...times, ...beforeNote(call, view, range), ...forecastNote(view), ...limitNote(view, limits)];
}

/** While the range runs, only as much of the time before compares with it. */
function beforeNote(call: PageCall, view: ChartView, range: UsageRange): Html[] {
  const { before, periods, step, unit } = view;
  const total = valueOf(before?.total ?? null);
  if (before === null || beforeOf(view) === null || total === null) return [];
  const amount = (value: bigint): Html => markup`${content(amountsOf(view).exact(value))}`;
  const begun = periods.filter(({ starts_at: at }) => Date.parse(at) <= call.nowMs).length;
  const isPart = begun < periods.length && unit !== "ms";
  const same = isPart ? addedUp(valuesOf(before.values.slice(0, begun))).at(-1) : undefined;
  const part = same === undefined ? null : markup`, of which ${amount(same)} up to the same ${step}`;
  return [markup`${beforeWords(before, range)}: ${amount(total)}${unit === "ms" ? " (p50)" : null}${part}.`];
}

function beforeWords({ from, to }: { from: string; to: string }, { kind, zone }: UsageRange): string {
  const words = { "24h": "The 24 hours before", "7d": "The 7 days before", "30d": "The 30 days before" } as const;
  if (kind === "month") return monthName(dayIn(from, zone).slice(0, 7));
  if (kind !== "custom") return words[kind];
  const [first, last] = [dayIn(from, zone), dayIn(new Date(Date.parse(to) - 1).toISOString(), zone)];
  return first === last ? day(first) : `${day(first)} to ${day(last)}`;
}

function forecastNote({ forecast }: ChartView): Html[] {
  if (forecast === null) return [];
  const { total_usd: total, usd_a_day: pace, since } = forecast;
  return [
    markup`Forecast for the end of the month: ${money(total)}. It adds ${money(pace)} for each day that is left, the average since ${day(since)}.`,
  ];
}

function limitNote({ unit, tz }: ChartView, limits: SpendLimits | undefined): Html[] {
  if (unit !== "usd" || limits === undefined || (limits.day === null && limits.month === null)) return [];
  const all = [
    ...(limits.day === null ? [] : [markup`${money(limits.day)} a day`]),
    ...(limits.month === null ? [] : [markup`${money(limits.month)} a month`]),
  ];
  return [
    markup`Limit: ${all.map((one, index) => markup`${index === 0 ? "" : ", "}${one}`)}, in UTC.${tz === "UTC" ? null : " It is not drawn over days of another zone."}`,
  ];
}

// The running total of a month

function running(call: PageCall, { view, asked, limits }: Answered): Drawing {
  const { sums, forecast, periods, tz } = view;
  const isFuture = (index: number): boolean => Date.parse(periods[index]?.starts_at ?? "") > call.nowMs;
  const own = addedUp(valuesOf(sums.values)).map((value, index) => (isFuture(index) ? null : value));
  const now = own.findLastIndex((value) => value !== null);
  const limit = tz === "UTC" && limits?.month ? parseUsd(limits.month) : null;
  const past = beforeOf(view);
  return {
    shape: "lines",
    series: [{ label: "Spend so far", values: own, total: valueOf(sums.total) }],
    before: past === null ? null : { ...past, values: addedUp(past.values) },
    limit: limit === null ? null : { value: limit, label: `Limit ${exactUsd(limit)} a month` },
    forecast:
      forecast === null || now < 0
        ? null
        : towards({ from: own[now] ?? 0n, at: now, to: parseUsd(forecast.total_usd), of: periods.length }),
    notes: notesOf(call, { view, asked, limits }),
  };
}

function addedUp(values: readonly (bigint | null)[]): bigint[] {
  let sum = 0n;
  return values.map((value) => (sum += value ?? 0n));
}

/** Evenly from the present total to that of the month's end. */
function towards({ from, at, to, of }: { from: bigint; at: number; to: bigint; of: number }): (bigint | null)[] {
  const steps = BigInt(Math.max(1, of - 1 - at));
  return Array.from({ length: of }, (_, index) => (index < at ? null : from + ((to - from) * BigInt(index - at)) / steps));
}

// Periods, and the requests behind them

/** A period that has not begun is in the table only if it has values all the same, because a clock was wrong. */
function periodsOf(call: PageCall, asked: UsageAsked, { periods, step, sums }: ChartView): ChartPeriod[] {
  return periods.map(({ period, starts_at: at }, index) => ({
    name: step === "hour" ? `${day(period)}, ${period.slice(11)}` : step === "month" ? monthName(period) : day(period),
    short:
      step === "hour"
        ? period.slice(11)
        : step === "month"
          ? `${monthName(period).slice(0, 3)} ${period.slice(0, 4)}`
          : shortDay(period),
    path: requestsBehind(call, asked, { period, endsAt: periods[index + 1]?.starts_at ?? asked.range.to, step }),
    isFuture: Date.parse(at) > call.nowMs && valueOf(sums.values[index] ?? null) === 0n,
  }));
}

/** An hour's are the first ones of its day's list that is continued from the end of the hour. */
function requestsBehind(
  call: PageCall,
  { only, measure, range }: UsageAsked,
  { period, endsAt, step }: { period: string; endsAt: string; step: string },
): string {
  const date = period.slice(0, 10);
  const isMonth = step === "month";
  const [from, to] = isMonth ? [`${period}-01`, lastDay(period)] : [date, date];
  return address(call.link("/requests"), {
    ...only,
    ...(measure === "errors" && { status: "error" }),
    from: from < range.days.first ? range.days.first : from,
    to: to > range.days.last ? range.days.last : to,
    ...(range.zone !== "UTC" && { tz: range.zone }),
    ...(step === "hour" && { before: firstGenerationId(Date.parse(endsAt)).padEnd("gen-".length + 26, "2") }),
  });
}

function lastDay(month: string): string {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 0, 0)).toISOString().slice(0, 10);
}

// The choices above the chart

function choices(call: PageCall, asked: UsageAsked): Html {
  const { range, measure, by, isRunning } = asked;
  const { before: _cursor, as: _file, ...given } = Object.fromEntries(call.query);
  const { range: _range, month: _month, from: _from, to: _to, ...kept } = given;
  const to = (query: Record<string, string>): string => `${address(call.path, { ...given, ...query })}#usage`;
  const measures = measuresOf(call, asked).map((one): Segment => ({
    label: measureNames[one],
    path: to({ measure: one, by: "", view: "" }),
    current: one === measure,
  }));
  const groups = groupsOf(call, asked);
  const views = mayRun(asked) ? [{ label: "Running total", path: to({ view: "total", by: "" }), current: isRunning }] : [];
  const named = [
    ...groups.map((one): Segment => ({
      label: groupLabel(one),
      path: to({ by: one, view: "" }),
      current: one === by && !isRunning,
    })),
    ...views,
  ];
  const picker = rangePicker({ path: call.path, fragment: "#usage", kept, range, nowMs: call.nowMs });
  return markup`<div class="chart-choices">${segments("Measure", measures)}${named.length < 2 ? null : segments("Group by", named)}${picker}</div>`;
}

function groupLabel(group: UsageAsked["by"]): string {
  if (group === "") return "Kind";
  return group === "code" ? "Code" : groupNames[group];
}

function dayIn(at: string, zone: string): string {
  return new Date(at).toLocaleDateString("sv-SE", { timeZone: zone });
}
