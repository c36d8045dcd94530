/**
 * The time and the sums of usage that a query asks for: the span, its periods as the clocks of a time zone show them, and the quarters of
 * an hour that cover them. Days and months begin at midnight there, even when daylight saving begins or ends. No current time zone needs
 * parts shorter than quarters. Zones are the runtime's IANA zones; offsets such as `+02:00` are refused, since they have no daylight
 * saving.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../accounts/errors.ts";
import { usageDaysDefault, usageDaysMax, usageHourDaysMax } from "../limits.ts";
import { usageDimensions, usagePeriods, type UsageDimension, type UsagePeriod } from "./schema.ts";

const time =
  "a date such as 2026-11-20 (midnight in the time zone), or a time at a full quarter of an hour such as 2026-11-20T13:15Z";

export const UsageFields = Type.Object({
  from: Type.Optional(Type.String({ maxLength: 40, description: time })),
  to: Type.Optional(Type.String({ maxLength: 40, description: `${time}, which is not part of the sums` })),
  by: Type.Optional(
    Type.String({
      maxLength: 80,
      description: `some of ${[...usagePeriods, ...usageDimensions].join(", ")}, with commas between`,
    }),
  ),
  tz: Type.Optional(
    Type.String({
      maxLength: 64,
      title: "Time zone of dates and periods, such as Europe/Berlin; default UTC",
      description: "an IANA time zone such as Europe/Berlin",
    }),
  ),
});
export type UsageFields = Static<typeof UsageFields>;

export interface UsageSpan {
  fromMs: number;
  /** Not part of the span. */
  toMs: number;
  zone: string;
  /** null: the whole span is one period. */
  period: UsagePeriod | null;
  dimensions: ReadonlySet<UsageDimension>;
}

const quarterMs = 900_000;
const dayMs = 86_400_000;

/**
 * By default the last days to the current quarter of an hour, in UTC, as one sum.
 * @throws DomainError invalid_field
 */
export function readSpan({ from, to, by = "", tz: zone = "UTC" }: UsageFields, nowMs: number): UsageSpan {
  if (!isTimeZone(zone)) throw refusal("tz", `Cannot take "${zone}" as tz: an IANA time zone such as Europe/Berlin is needed`);
  const presentEnd = Math.ceil((nowMs + 1) / quarterMs) * quarterMs;
  const toMs = to === undefined ? presentEnd : readTime({ field: "to", text: to, zone });
  const defaultFrom = (): number => dayStart(toMs - 1, { daysBefore: usageDaysDefault - 1, zone });
  const fromMs = from === undefined ? defaultFrom() : readTime({ field: "from", text: from, zone });
  const words = readWords(by);
  if (fromMs >= toMs) throw refusal("from", "Cannot sum a time that ends before it begins: a from before to is needed");
  // One day more, since a day on which daylight saving ends is longer.
  const daysMax = words.period === "hour" ? usageHourDaysMax : usageDaysMax;
  if (toMs - fromMs > (daysMax + 1) * dayMs)
    throw refusal("from", `Cannot sum more than ${daysMax} days${words.period === "hour" ? " by hours" : ""}`);
  return { fromMs, toMs, zone, ...words };
}

function refusal(field: keyof UsageFields, message: string): DomainError {
  return new DomainError("invalid_field", message, { field });
}

function readTime({ field, text, zone }: { field: "from" | "to"; text: string; zone: string }): number {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = isDate || isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) throw refusal(field, `Cannot take "${text}" as ${field}: ${time} is needed`);
  const instant = isDate ? instantOf(ms, zone) : ms;
  if (instant % quarterMs === 0) return instant;
  throw refusal(field, `Cannot take "${text}" as ${field}: only quarters of an hour are kept`);
}

function readWords(by: string): Pick<UsageSpan, "period" | "dimensions"> {
  const words = by === "" ? [] : by.split(",").map((word) => word.trim());
  const periods = usagePeriods.filter((period) => words.includes(period));
  const dimensions = usageDimensions.filter((dimension) => words.includes(dimension));
  const [period = null, second] = periods;
  const unknown = words.find((word) => ![...periods, ...dimensions].some((known) => known === word));
  if (unknown !== undefined)
    throw refusal("by", `Cannot sum by "${unknown}": ${[...usagePeriods, ...usageDimensions].join(", ")} are possible`);
  if (second) throw refusal("by", `Cannot sum by ${period} and ${second}: one of them is needed`);
  return { period, dimensions: new Set(dimensions) };
}

// Periods of a time zone

export interface Period {
  /** As clocks in the zone show its beginning, such as 2026-11, 2026-11-20 or 2026-11-20T13:00. */
  name: string;
  startMs: number;
}

interface Span {
  fromMs: number;
  toMs: number;
  zone: string;
}

/** The periods of the span, oldest first. The first begins with the span, which may be within an hour, a day or a month. */
export function periodsOf({ fromMs, toMs, zone }: Span, by: UsagePeriod | null): Period[] {
  if (by === null) return [{ name: "", startMs: fromMs }];
  const periods: Period[] = [];
  for (let startMs = fromMs; startMs < toMs; startMs = nextStart(startMs, { by, zone })) {
    periods.push({ name: new Date(localTime(startMs, zone)).toISOString().slice(0, nameLengths[by]), startMs });
  }
  return periods;
}

const nameLengths = { month: 7, day: 10, hour: 16 };
const hourMs = 3_600_000;

/** Quarters of an hour that are covered by sums of one span. */
interface UsageBlock {
  span: number;
  from: number;
  /** Not part of it. */
  to: number;
}

const spansOfSums = [768, 96, 24, 4];
export const spansOfCounts = [24];

/**
 * Covers quarters with the longest spans that fit, which reads the fewest rows.
 * @param summedBefore from here on no span is longer than a quarter
 */
export function blocksOf(
  { from, to, summedBefore }: { from: number; to: number; summedBefore: number },
  spans = spansOfSums,
): UsageBlock[] {
  const end = Math.max(from, Math.min(to, summedBefore));
  return [...covering({ from, to: end }, spans), ...(end < to ? [{ span: 1, from: end, to }] : [])];
}

function nextStart(ms: number, { by, zone }: { by: UsagePeriod; zone: string }): number {
  const local = new Date(localTime(ms, zone));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  if (by === "month") return instantOf(Date.UTC(year, month + 1, 1), zone);
  if (by === "day") return nextMidnight(Date.UTC(year, month, day + 1), { zone, offset: local.getTime() - ms });
  // An hour ends when the clock shows the next full hour, or after sixty minutes at the latest if the clock is changed meanwhile.
  const sinceFull = local.getTime() % hourMs;
  return ms + hourMs - sinceFull;
}

/** Tries the offset of the day before first, which is right for nearly all days: of two midnights the first one counts. */
function nextMidnight(midnight: number, { zone, offset }: { zone: string; offset: number }): number {
  const instant = midnight - offset;
  return localTime(instant, zone) === midnight ? instant : instantOf(midnight, zone);
}

function covering({ from, to }: { from: number; to: number }, [span, ...shorter]: number[]): UsageBlock[] {
  if (from >= to) return [];
  if (span === undefined) return [{ span: 1, from, to }];
  const [first, last] = [Math.ceil(from / span) * span, Math.floor(to / span) * span];
  if (first >= last) return covering({ from, to }, shorter);
  return [...covering({ from, to: first }, shorter), { span, from: first, to: last }, ...covering({ from: last, to }, shorter)];
}

/** Midnight in the zone, of the day that is this many days before the day of `ms`. */
function dayStart(ms: number, { daysBefore, zone }: { daysBefore: number; zone: string }): number {
  const local = new Date(localTime(ms, zone));
  return instantOf(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() - daysBefore), zone);
}

// Clocks of a place

/** Whether the runtime knows it, such as `Europe/Berlin`. Offsets such as `+02:00` are not zones: they have no daylight saving. */
export function isTimeZone(zone: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** What clocks in the zone show, as the time in UTC that has the same digits. */
export function localTime(ms: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(ms)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const of = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  return Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
}

/**
 * When clocks in the zone show this time first. Where they skip it: the time after the skip.
 * @param local as the time in UTC that has the same digits
 */
export function instantOf(local: number, zone: string): number {
  const offsets = [local - dayMs, local + dayMs].map((near) => localTime(near, zone) - near);
  const instants = offsets.map((offset) => local - offset).toSorted((a, b) => a - b);
  return instants.find((instant) => localTime(instant, zone) === local) ?? Math.max(...instants);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Callers choose the names, so a bound is needed. */
const zonesKept = 600;

/** @throws RangeError for a name that is not a time zone */
function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const fields = {
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    } as const;
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "iso8601",
      numberingSystem: "latn",
      hourCycle: "h23",
      ...fields,
    });
    if (formats.size >= zonesKept) formats.clear();
    formats.set(zone, format);
  }
  return format;
}
