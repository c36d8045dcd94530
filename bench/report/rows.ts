/** The table of what was to be reached: bar, goal, and what this run reached. */
import { ceilingConnections } from "../parts/hot-path.ts";
import type { Measurement } from "../measure/measure.ts";
import type { Facts } from "./facts.ts";

export interface Row {
  what: string;
  bar: number;
  goal: number;
  unit: string;
  better: "higher" | "lower";
  /** One for each round; empty: this part did not run. */
  values: number[];
}

export function rowsOf({ hotPath, streams, soak, catalog, lists }: Facts): Row[] {
  const all = hotPath?.measurements ?? [];
  const rounds = [...new Set(all.map(({ round }) => round))];
  const ratio = (over: string, under: string) => rounds.map((round) => ceiling(all, over, round) / ceiling(all, under, round));
  const addedRatio = rounds.map((round) => addedMs(all, "Weir hot", round) / addedMs(all, "Portkey", round));
  const row = (what: string, better: Row["better"], [bar, goal]: [number, number], values: number[], unit = ""): Row => {
    return { what, bar, goal, unit, better, values: values.filter(Number.isFinite) };
  };
  const catalogP99 = (name: string): number[] =>
    (catalog?.cases ?? []).flatMap((one) => (one.name === name ? [one.latencyMs?.p99 ?? Number.NaN] : []));
  return [
    row("hot: metered req/s ÷ bare proxy req/s", "higher", [0.25, 0.45], ratio("Weir hot", "bare proxy")),
    row("hot: metered req/s ÷ Portkey (no governance) req/s", "higher", [5, 10], ratio("Weir hot", "Portkey")),
    row("spread: metered req/s ÷ bare proxy req/s", "higher", [0.18, 0.3], ratio("Weir spread", "bare proxy")),
    row("added p50 at one in flight ÷ Portkey's added p50", "lower", [0.8, 0.4], addedRatio),
    row("2,000 streams: p99 lateness of events − bare relay's", "lower", [10, 3], streams?.addedLatenessMs ?? [], "ms"),
    row("(RSS with 2,000 streams − idle) ÷ bare relay's", "lower", [2, 1.3], streams?.memoryRatio ?? []),
    row("after 60 s at 80 % of the hot ceiling: metering lag to zero", "lower", [5, 1], soak ? [soak.lagSeconds] : [], "s"),
    row(
      "lists over 1 million findings: p99 in the database",
      "lower",
      [25, 10],
      lists ? [lists.databaseMs?.p99 ?? Number.NaN] : [],
      "ms",
    ),
    row("catalog at one in flight: p99 of the full NDJSON export", "lower", [20, 5], catalogP99("export"), "ms"),
    row("catalog at one in flight: p99 of a 304 on repeat", "lower", [5, 1], catalogP99("304"), "ms"),
  ];
}

/** Answers a second at the best number of connections. NaN without any. */
export function ceiling(all: Measurement[], contender: string, round: number): number {
  const own = all.filter((one) => one.contender === contender && one.round === round);
  const rates = own.filter(({ load }) => ceilingConnections.some((count) => load === `${count} connections`));
  return rates.length === 0 ? Number.NaN : Math.max(...rates.map(({ result }) => result.perSecond));
}

/** At the number of connections that gave the most answers, of all rounds. */
export function bestOf(all: Measurement[], contender: string): Measurement | undefined {
  const own = all.filter((one) => one.contender === contender && one.load.endsWith("connections"));
  return own.toSorted((one, other) => other.result.perSecond - one.result.perSecond)[0];
}

function addedMs(all: Measurement[], contender: string, round: number): number {
  const p50 = (name: string) =>
    all.find((one) => one.contender === name && one.round === round && one.load === "1 connections")?.result.latencyMs?.p50 ??
    Number.NaN;
  return p50(contender) - p50("direct");
}

/** NaN without any. */
export function median(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function verdictOf({ values, bar, goal, better }: Row): string {
  if (values.length === 0) return "not measured";
  const value = median(values);
  const reaches = (mark: number) => (better === "higher" ? value >= mark : value <= mark);
  return reaches(goal) ? "goal" : reaches(bar) ? "bar" : "below the bar";
}
