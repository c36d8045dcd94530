/**
 * The range of a chart in the address of its page: the last 24 hours, 7 or 30 days, a month, or days of one's own, in a time zone. It is all
 * links and one form, so that it works without a script and can be shared. A range that cannot be read is said, and the usual one is shown.
 */
import { localTime } from "../../../gateway/usage/periods.ts";
import { usageDaysMax } from "../../../gateway/limits.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime, previousMonth, type Month } from "../../../kernel/clock.ts";
import { address, filterForm } from "../../look/forms.ts";
import { day, notice } from "../../look/parts.ts";
import type { PageCall } from "../../page.ts";
import type { Viewer } from "../../viewer.ts";
import { dayAt, dayStartOf, dayZone, monthName } from "./day-zone.ts";

const presets = ["24h", "7d", "30d", "month"] as const;
type Preset = (typeof presets)[number];

export interface UsageRange {
  kind: Preset | "custom";
  /** ISO 8601, for the control API. */
  from: string;
  to: string;
  zone: string;
  /** The first and the last day, in the zone. */
  days: { first: string; last: string };
  /** Of the kind `month`. */
  month: Month | null;
  /** Such as "in November 2026" or "in the last 7 days". */
  words: string;
  /** What is wrong with the address; null: nothing. */
  problem: Html | null;
}

type Call = Pick<PageCall, "query" | "nowMs"> & { viewer: Pick<Viewer, "zone"> };

/** @param usual the range if the address names none */
export function usageRange(call: Call, usual: "30d" | "month"): UsageRange {
  const { zone, problem } = dayZone(call);
  const asked = call.query.get("range") ?? "";
  const month = monthIn(call.query);
  if ((asked === "" || asked === "custom") && call.query.get("from")) {
    const own = ownDays(call, zone);
    return own === null ? { ...rangeOf(usual, { call, zone, month: null }), problem: noSuchDays } : { ...own, problem };
  }
  const kind = presets.find((one) => one === asked) ?? (month === null ? usual : "month");
  return { ...rangeOf(kind, { call, zone, month }), problem };
}

const noSuchDays = notice({
  tone: "bad",
  words: `Those days cannot be shown: a first day up to the last one is needed, such as 2026-11-20, and at most ${usageDaysMax} days.`,
});

function monthIn(query: URLSearchParams): Month | null {
  const month = query.get("month") ?? "";
  return /^(?:19[7-9]\d|2\d{3})-(?:0[1-9]|1[0-2])$/.test(month) && month > "1970-01" ? month : null;
}

type Range = Omit<UsageRange, "problem">;

function rangeOf(kind: Preset, { call: { nowMs }, zone, month }: { call: Call; zone: string; month: Month | null }): Range {
  const today = dayAt(nowMs, zone);
  if (kind === "month") return monthRange(month ?? today.slice(0, 7), zone);
  return kind === "24h" ? lastHours(nowMs, zone) : lastDays(kind, today, zone);
}

function monthRange(month: Month, zone: string): Range {
  const first = `${month}-01`;
  const next = `${nextMonth(month)}-01`;
  const last = new Date(Date.parse(next) - 1).toISOString().slice(0, 10);
  return { kind: "month", ...spanOf({ first, last }, zone), zone, month, words: `in ${monthName(month)}` };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Up to the end of this hour. */
function lastHours(nowMs: number, zone: string): Range {
  const toMs = nowMs - (localTime(nowMs, zone) % hourMs) - (nowMs % 1_000) + hourMs;
  const fromMs = toMs - dayMs;
  const days = { first: dayAt(fromMs, zone), last: dayAt(toMs - 1, zone) };
  return { kind: "24h", from: isoTime(fromMs), to: isoTime(toMs), days, zone, month: null, words: "in the last 24 hours" };
}

const lengths = { "7d": 7, "30d": 30 } as const;

/** Up to the end of today. */
function lastDays(kind: keyof typeof lengths, today: string, zone: string): Range {
  const first = new Date(Date.parse(today) - (lengths[kind] - 1) * dayMs).toISOString().slice(0, 10);
  return { kind, ...spanOf({ first, last: today }, zone), zone, month: null, words: `in the last ${lengths[kind]} days` };
}

/** null: they are no days, or too many. */
function ownDays({ query, nowMs }: Call, zone: string): Range | null {
  const first = query.get("from")?.trim() ?? "";
  const last = query.get("to")?.trim() || dayAt(nowMs, zone);
  if (!isDay(first) || !isDay(last) || first > last) return null;
  if (Date.parse(last) - Date.parse(first) >= usageDaysMax * dayMs) return null;
  const words = first === last ? `on ${day(first)}` : `from ${day(first)} to ${day(last)}`;
  return { kind: "custom", ...spanOf({ first, last }, zone), zone, month: null, words };
}

/** A day that the calendar has, and that every zone has after 1970 began. */
function isDay(text: string): boolean {
  if (!/^[12]\d{3}-\d{2}-\d{2}$/.test(text) || text < "1970-01-03") return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

function spanOf(days: UsageRange["days"], zone: string): Pick<UsageRange, "from" | "to" | "days"> {
  const at = (date: string, later: number): string => isoTime(dayStartOf(date, { zone, days: later }));
  return { from: at(days.first, 0), to: at(days.last, 1), days };
}

function nextMonth(month: Month): Month {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 0, 1)).toISOString().slice(0, 7);
}

// The picker

export interface Segment {
  label: string;
  path: string;
  current: boolean;
}

/** Views of one thing in a row, each a link. */
export function segments(name: string, all: readonly Segment[]): Html {
  const items = all.map(
    ({ label, path, current }) => markup`<li><a href="${path}"${current ? markup` aria-current="true"` : null}>${label}</a></li>`,
  );
  return markup`<nav aria-label="${name}"><ul class="segments" role="list">${items}</ul></nav>`;
}

interface Picker {
  /** The page, and where the chart is on it, such as `#usage`. */
  path: string;
  fragment: string;
  /** The other fields of the address. */
  kept: Readonly<Record<string, string>>;
  range: UsageRange;
  nowMs: number;
}

const labels: Record<Preset, string> = { "24h": "24 h", "7d": "7 d", "30d": "30 d", month: "Month" };

export function rangePicker({ path, fragment, kept, range, nowMs }: Picker): Html {
  const { zone, days, kind } = range;
  const to = (query: Record<string, string>): string => address(path, { ...kept, ...query }) + fragment;
  const choices = presets.map((one) => ({
    label: labels[one],
    path: to({ range: one }),
    current: one === kind,
  }));
  const filters = [
    { name: "from", label: "From day", kind: "date", value: kind === "custom" ? days.first : "" },
    { name: "to", label: "To day", kind: "date", value: kind === "custom" ? days.last : "" },
  ] as const;
  return markup`${segments("Range", choices)}${range.month === null ? null : monthLinks(range.month, { to, thisMonth: dayAt(nowMs, zone).slice(0, 7) })}
    <details${kind === "custom" ? markup` open` : null}><summary>Other days</summary>${filterForm({ path, filters, kept: { ...kept, range: "custom" } })}</details>`;
}

function monthLinks(month: Month, { to, thisMonth }: { to: (query: Record<string, string>) => string; thisMonth: Month }): Html {
  const path = (other: Month): string => to({ range: "month", month: other });
  const [before, after] = [previousMonth(month), nextMonth(month)];
  const later = month < thisMonth ? markup`<a href="${path(after)}">${monthName(after)} ›</a>` : null;
  return markup`<p class="chart-months"><a href="${path(before)}">‹ ${monthName(before)}</a>${later}</p>`;
}
