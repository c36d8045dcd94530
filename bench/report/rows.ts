/** The table of bars, goals, and the values that a run reached. */
import { agentApis, type AgentApi } from "../load/agent-body.ts";
import { agentConnections, agentWeir, type AgentRun } from "../parts/agent.ts";
import { ceilingConnections } from "../parts/hot-path.ts";
import type { Cost, Measurement } from "../measure/measure.ts";
import type { ConsoleTimes } from "../parts/console.ts";
import { barKinds } from "../usage/draw.ts";
import type { Facts } from "./facts.ts";
import { median } from "../measure/median.ts";

export interface Row {
  what: string;
  bar: number;
  goal: number;
  unit: string;
  better: "higher" | "lower";
  /** One value for each sweep or round; empty: the part did not run. */
  values: number[];
}

type Marks = [bar: number, goal: number];

function row(what: string, better: Row["better"], [bar, goal]: Marks, values: number[], unit = ""): Row {
  return { what, bar, goal, unit, better, values: values.filter(Number.isFinite) };
}

export function rowsOf({ hotPath, agent, streams, soak, catalog, lists, log, usage, console }: Facts): Row[] {
  const all = hotPath?.measurements ?? [];
  const sweeps = sweepsOf(all);
  const ratio = (over: string, under: string) => sweeps.map((sweep) => ceiling(sweep, over) / ceiling(sweep, under));
  const addedRatio = sweeps.map((sweep) => addedMs(sweep, "Weir hot") / addedMs(sweep, "Portkey"));
  const catalogP99 = (name: string): number[] =>
    (catalog?.cases ?? []).flatMap((one) => (one.name === name ? [one.latencyMs?.p99 ?? Number.NaN] : []));
  return [
    row("hot: metered req/s ÷ bare proxy req/s", "higher", [0.25, 0.45], ratio("Weir hot", "bare proxy")),
    row("hot: metered req/s ÷ Portkey (no governance) req/s", "higher", [5, 10], ratio("Weir hot", "Portkey")),
    row("spread: metered req/s ÷ bare proxy req/s", "higher", [0.18, 0.3], ratio("Weir spread", "bare proxy")),
    row("added p50 at one in flight ÷ Portkey's added p50", "lower", [0.8, 0.4], addedRatio),
    ...agentRows(agent),
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
    row(
      "first page of the log among 20 million generations: p99 in the database, of the slowest kind",
      "lower",
      [10, 5],
      log ? [Math.max(...Object.values(log.databaseMs).map((summary) => summary?.p99 ?? Number.NaN))] : [],
      "ms",
    ),
    row(
      "usage over 10 million generations by each dimension: p99 of an answer, of the slowest kind of question",
      "lower",
      [50, 25],
      usage ? [Math.max(...barKinds.map((kind) => usage.answerMs[kind]?.p99 ?? Number.NaN))] : [],
      "ms",
    ),
    row("Console: p99 of the slowest page", "lower", [50, 25], console ? [slowestPageMs(console)] : [], "ms"),
    row(
      "200 requests a second while twenty people click in the Console and forty pages refresh themselves: p99",
      "lower",
      [25, 10],
      console?.traffic.map(({ beside }) => beside.latencyMs?.p99 ?? Number.NaN) ?? [],
      "ms",
    ),
    row("catalog at one in flight: p99 of the full NDJSON export", "lower", [20, 5], catalogP99("export"), "ms"),
    row("catalog at one in flight: p99 of a 304 on repeat", "lower", [5, 1], catalogP99("304"), "ms"),
  ];
}

function agentRows(agent: AgentRun | undefined): Row[] {
  const by = (read: (all: Measurement[]) => number[]): number[] =>
    agent === undefined ? [] : agentApis.flatMap((api) => read(agentMeasurements(agent, api)));
  const added = (sweep: Measurement[], name: string): number => firstEventMs(sweep, name) - firstEventMs(sweep, "direct");
  const addedRatios = (all: Measurement[]) => sweepsOf(all).map((sweep) => added(sweep, agentWeir) / added(sweep, "Portkey"));
  return [
    row(
      "an agent's request on three APIs: req/s ÷ bare proxy's",
      "higher",
      [0.35, 0.55],
      by((all) => agentRates(all, agentWeir, "bare proxy")),
    ),
    row("the same: added time to the first event at one in flight ÷ Portkey's", "lower", [0.5, 0.25], by(addedRatios)),
  ];
}

/** The measurements of an API, in their order. */
export function agentMeasurements({ measurements }: AgentRun, api: AgentApi): Measurement[] {
  return measurements.flatMap((one) => (one.api === api ? [one.measurement] : []));
}

/** One for each sweep: an agent's requests a second of one contender ÷ those of another. */
export function agentRates(all: Measurement[], over: string, under: string): number[] {
  const load = `${agentConnections.ceiling} connections`;
  return sweepsOf(all).map((sweep) => {
    const rate = (name: string) =>
      sweep.find((one) => one.contender === name && one.load === load)?.result.perSecond ?? Number.NaN;
    return rate(over) / rate(under);
  });
}

/** From the start of a request to the first event of its answer, with one in flight: p50 in milliseconds. NaN without measurements. */
export function firstEventMs(sweep: Measurement[], contender: string): number {
  const load = `${agentConnections.alone} connections`;
  return sweep.find((one) => one.contender === contender && one.load === load)?.result.firstEventMs?.p50 ?? Number.NaN;
}

/** Files are no pages. */
export function slowestPageMs({ pages }: ConsoleTimes): number {
  return Math.max(...pages.flatMap(({ isFile, latencyMs }) => (isFile ? [] : [latencyMs?.p99 ?? Number.NaN])));
}

/** Groups measurements by sweep. Ratios use only figures of one sweep, since the machine was equally fast within its seconds. */
export function sweepsOf(all: Measurement[]): Measurement[][] {
  return [...Map.groupBy(all, ({ sweep }) => sweep)].flatMap(([sweep, measured]) => (sweep === undefined ? [] : [measured]));
}

/** Answers a second within a sweep, at the best number of connections. NaN without measurements. */
export function ceiling(sweep: Measurement[], contender: string): number {
  const own = sweep.filter((one) => one.contender === contender && isCeiling(one));
  return own.length === 0 ? Number.NaN : Math.max(...own.map(({ result }) => result.perSecond));
}

function isCeiling({ load }: Measurement): boolean {
  return ceilingConnections.some((count) => load === `${count} connections`);
}

/** The cost of a request at the number of connections with the most answers. */
export function costAtCeiling(all: Measurement[], contender: string): Cost | null {
  const own = all.filter((one) => one.contender === contender && isCeiling(one));
  const loads = [...Map.groupBy(own, ({ load }) => load)];
  const rate = (slices: Measurement[]) => median(slices.map(({ result }) => result.perSecond));
  const [best] = loads.toSorted(([, one], [, other]) => rate(other) - rate(one));
  return best === undefined ? null : costAt(all, contender, best[0]);
}

/** The cost of a request under a load, averaged over all slices, weighted by their requests. */
export function costAt(all: Measurement[], contender: string, load: string): Cost | null {
  const own = all.filter((one) => one.contender === contender && one.load === load);
  const requests = own.reduce((sum, { result }) => sum + result.endedInAll, 0);
  const spent = new Map<string, number>();
  for (const { cpuPer1000, result } of own) {
    for (const [process, seconds] of Object.entries(cpuPer1000)) {
      spent.set(process, (spent.get(process) ?? 0) + (seconds * result.endedInAll) / requests);
    }
  }
  return own.length === 0 ? null : { contender, cpuPer1000: Object.fromEntries(spent) };
}

/** What a contender adds to the provider's latency with one request in flight, in milliseconds. NaN without measurements. */
export function addedMs(sweep: Measurement[], contender: string, which: "p50" | "p99" = "p50"): number {
  const latency = (name: string) =>
    sweep.find((one) => one.contender === name && one.load === "1 connections")?.result.latencyMs?.[which] ?? Number.NaN;
  return latency(contender) - latency("direct");
}

export function verdictOf({ values, bar, goal, better }: Row): string {
  if (values.length === 0) return "not measured";
  const value = median(values);
  const reaches = (mark: number) => (better === "higher" ? value >= mark : value <= mark);
  return reaches(goal) ? "goal" : reaches(bar) ? "bar" : "below the bar";
}
