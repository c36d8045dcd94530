/** Cuts a span of time into the hours, days or months of a time zone. */
import { instantOf, localTime } from "./time-zone.ts";
import type { UsagePeriod } from "./schema.ts";

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

function nextStart(ms: number, { by, zone }: { by: UsagePeriod; zone: string }): number {
  const local = new Date(localTime(ms, zone));
  const [year, month, day] = [local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate()];
  if (by === "month") return instantOf(Date.UTC(year, month + 1, 1), zone);
  if (by === "day") return nextMidnight(Date.UTC(year, month, day + 1), { zone, offset: local.getTime() - ms });
  // An hour ends where its clock shows the next full one, and where the clock is set meanwhile after sixty minutes at the latest.
  const sinceFull = local.getTime() % hourMs;
  return ms + hourMs - sinceFull;
}

/** Looks at the offset of the day before first, which is that of nearly all days: of two midnights it is the first one's. */
function nextMidnight(midnight: number, { zone, offset }: { zone: string; offset: number }): number {
  const instant = midnight - offset;
  return localTime(instant, zone) === midnight ? instant : instantOf(midnight, zone);
}

/** Midnight in the zone, of the day that is so many days before the day of `ms`. */
export function dayStart(ms: number, { daysBefore, zone }: { daysBefore: number; zone: string }): number {
  const local = new Date(localTime(ms, zone));
  return instantOf(Date.UTC(local.getUTCFullYear(), local.getUTCMonth(), local.getUTCDate() - daysBefore), zone);
}

/** Quarters of an hour that sums of one span cover. */
export interface Block {
  span: number;
  from: number;
  /** Not part of it. */
  to: number;
}

const spans = [768, 96, 24, 4];

/**
 * Covers quarters with the longest spans that fit, which takes the fewest rows.
 * @param summedBefore from there on there are no longer spans than a quarter
 */
export function blocksOf({ from, to, summedBefore }: { from: number; to: number; summedBefore: number }): Block[] {
  const end = Math.max(from, Math.min(to, summedBefore));
  return [...covering({ from, to: end }, spans), ...(end < to ? [{ span: 1, from: end, to }] : [])];
}

function covering({ from, to }: { from: number; to: number }, [span, ...shorter]: number[]): Block[] {
  if (from >= to) return [];
  if (span === undefined) return [{ span: 1, from, to }];
  const [first, last] = [Math.ceil(from / span) * span, Math.floor(to / span) * span];
  if (first >= last) return covering({ from, to }, shorter);
  return [...covering({ from, to: first }, shorter), { span, from: first, to: last }, ...covering({ from: last, to }, shorter)];
}
