/**
 * How many findings of a project were live at the end of each of the last 30 days (UTC), by severity. The counts of today are read, and the
 * recorded changes since are undone from the newest to the oldest. A finding counts with the severity that it has today.
 *
 * Nothing is stored for it. With more changes than one reading takes, only the days that they cover are told.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import { text } from "../../http/json-schema.ts";
import { isoTime } from "../../kernel/clock.ts";
import { severities, severityOf } from "../findings/schema.ts";
import { trendChangesMax, trendDays } from "../limits.ts";
import { selectChanges, selectLive, type LiveFindings, type StateChange } from "./activity-store.ts";

const dayMs = 86_400_000;
const levels = [...severities, "unknown"] as const;
type Level = (typeof levels)[number];

const count = (level: string) => Type.Integer({ description: `Live findings ${level} at the end of the day, or now` });

export const TrendDay = Type.Object({
  day: text("The day in UTC, such as 2026-11-20"),
  critical: count("of critical severity"),
  high: count("of high severity"),
  medium: count("of medium severity"),
  low: count("of low severity"),
  unknown: count("without a severity"),
});
export type TrendDay = Static<typeof TrendDay>;

/** @returns the oldest day first, today last; fewer days if more than `trendChangesMax` changes lie within them */
export async function trendOf({ project, nowMs }: { project: string; nowMs: number }, sql: Queries): Promise<TrendDay[]> {
  const today = Math.floor(nowMs / dayMs);
  const first = today - trendDays + 1;
  const [live, changes] = await Promise.all([
    selectLive(project, sql),
    // What happened on the first day is part of that day's end.
    selectChanges({ project, since: new Date((first + 1) * dayMs), limit: trendChangesMax + 1 }, sql),
  ]);
  const oldest = changes.length > trendChangesMax ? changes.pop() : undefined;
  const known = oldest === undefined ? first : Math.floor(oldest.at.getTime() / dayMs);
  const steps = stepsOf(changes);
  const counts = countsOf(live);
  const trend: TrendDay[] = [];
  for (let day = today; day >= known; day--) {
    trend.unshift({ day: isoTime(day * dayMs).slice(0, 10), ...counts });
    for (const [level, step] of steps.get(day) ?? []) counts[level] -= step;
  }
  return trend;
}

function countsOf(live: readonly LiveFindings[]): Record<Level, number> {
  const counts: Record<Level, number> = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 };
  for (const { rank, findings } of live) counts[levelOf(rank)] += findings;
  return counts;
}

function levelOf(rank: number): Level {
  return severityOf(rank) ?? "unknown";
}

/** By how many each day changed the live findings of each severity. */
function stepsOf(newestFirst: readonly StateChange[]): Map<number, Map<Level, number>> {
  const steps = new Map<number, Map<Level, number>>();
  const states = new Map<string, { status: unknown; falsePositive: unknown }>();
  for (const { finding, at, rank, changes, ...today } of newestFirst) {
    const after = states.get(finding) ?? today;
    const { status, false_positive: falsePositive } = changes;
    const before = {
      status: status === undefined ? after.status : status.from,
      falsePositive: falsePositive === undefined ? after.falsePositive : falsePositive.from,
    };
    states.set(finding, before);
    const step = Number(isLive(after)) - Number(isLive(before));
    if (step === 0) continue;
    const day = Math.floor(at.getTime() / dayMs);
    const ofDay = steps.get(day) ?? new Map<Level, number>();
    steps.set(day, ofDay.set(levelOf(rank), (ofDay.get(levelOf(rank)) ?? 0) + step));
  }
  return steps;
}

/** As the column `live`; a finding without a status was not found yet. */
function isLive({ status, falsePositive }: { status: unknown; falsePositive: unknown }): boolean {
  return (status === "open" || status === "in_progress") && falsePositive !== true;
}
