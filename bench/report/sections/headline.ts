/** The headline figures of a whole run, in plain words. docs/explanation/performance.md shows them. */
import type { Summary } from "../../load/histogram.ts";
import type { Measurement } from "../../measure/measure.ts";
import { agentApis } from "../../load/agent-body.ts";
import { agentConnections, agentWeir } from "../../parts/agent.ts";
import { openLoopRate } from "../../parts/hot-path.ts";
import type { Facts } from "../facts.ts";
import { median } from "../../measure/median.ts";
import { addedMs, agentMeasurements, ceiling, costAtCeiling, slowestPageMs, sweepsOf } from "../rows.ts";
import { shown, table } from "../table.ts";
import { apiNames } from "./agent.ts";
import { ownCostsOf, totalOf } from "./costs.ts";
import type { Section } from "./section.ts";

/** What is measured, and the figures of Weir, the bare proxy and Portkey. */
type Line = [what: string, weir: number, bareProxy?: number, portkey?: number];

const peers = ["bare proxy", "Portkey"] as const;
const openLoad = `${openLoopRate}/s`;

export function headlineSections(facts: Facts): Section[] {
  const { at, commit, machine } = facts;
  const lines = linesOf(facts).filter(([, weir]) => Number.isFinite(weir));
  const cells = lines.map(([what, ...figures]) => [what, ...[0, 1, 2].map((column) => cell(figures[column]))]);
  const where = `Run of ${at.slice(0, 10)}, commit ${commit}, on ${machine.cores} cores of ${machine.processor}.`;
  const text = `${where}\n\n${table(["what", "Weir", "bare proxy", "Portkey"], cells)}`;
  return lines.length === 0 ? [] : [{ name: "headline", title: "Headline figures", text, plots: [] }];
}

function linesOf(facts: Facts): Line[] {
  const { streams, soak, catalog, console } = facts;
  const p99OfCatalog = (name: string) => p99(catalog?.cases.find((one) => one.name === name)?.latencyMs);
  return [
    ...hotPathLines(facts.hotPath?.measurements ?? []),
    bodiesLine(facts),
    ...agentLines(facts),
    ...(streams ? streamLines(streams) : []),
    ["latency in a minute at 80 % of the most, p99 ms", p99(soak?.result.latencyMs)],
    ["seconds until the ledger has everything, after that minute", soak?.lagSeconds ?? Number.NaN],
    ["the whole catalog of connectors, p99 ms", p99OfCatalog("export")],
    ["the slowest page of the Console, p99 ms", console ? slowestPageMs(console) : Number.NaN],
  ];
}

function hotPathLines(all: Measurement[]): Line[] {
  const sweeps = sweepsOf(all);
  const rate = (name: string) => median(sweeps.map((sweep) => ceiling(sweep, name)));
  const added = (name: string) => median(sweeps.map((sweep) => addedMs(sweep, name)));
  const open = (name: string) =>
    median(
      all.flatMap(({ contender, load, result }) => (contender === name && load === openLoad ? [p99(result.latencyMs)] : [])),
    );
  const cost = (name: string) => {
    const found = costAtCeiling(all, name);
    return found === null ? Number.NaN : totalOf(ownCostsOf(found));
  };
  const line = (what: string, read: (name: string) => number): Line => [what, read("Weir hot"), read(peers[0]), read(peers[1])];
  return [
    line("requests a second at most, 200 keys of one workspace", rate),
    ["requests a second at most, 10,000 keys of 1,000 workspaces", rate("Weir spread")],
    line("added to the latency of one request at a time, p50 ms", added),
    line(`latency at ${openLoopRate} requests a second, p99 ms`, open),
    line("CPU time of all its processes for a request, µs", cost),
  ];
}

function bodiesLine({ bodies }: Facts): Line {
  const rate = (name: string): number =>
    bodies?.measurements.find((one) => one.case === "100 KiB" && one.loop === "closed" && one.measurement.contender === name)
      ?.measurement.result.perSecond ?? Number.NaN;
  return ["requests a second at most, bodies of 100 KiB", rate("Weir hot"), rate(peers[0]), rate(peers[1])];
}

function agentLines({ agent }: Facts): Line[] {
  if (agent === undefined) return [];
  const load = `${agentConnections.ceiling} connections`;
  return agentApis.map((api) => {
    const all = agentMeasurements(agent, api).filter((one) => one.load === load);
    const rate = (name: string): number =>
      median(all.flatMap(({ contender, result }) => (contender === name ? [result.perSecond] : [])));
    return [`an agent's requests a second at most, ${apiNames[api]}`, rate(agentWeir), rate(peers[0]), rate(peers[1])];
  });
}

function streamLines({ turns }: NonNullable<Facts["streams"]>): Line[] {
  const middle = (name: string, read: (turn: (typeof turns)[number]) => number) =>
    median(turns.filter(({ contender }) => contender === name).map(read));
  const both = (what: string, read: (turn: (typeof turns)[number]) => number): Line => [
    what,
    middle("Weir spread", read),
    middle(peers[0], read),
  ];
  return [
    both("lateness of events of 2,000 streams, p99 ms", ({ lateness }) => p99(lateness)),
    both("memory that 2,000 streams add, MiB", ({ idleBytes, loadedBytes }) => (loadedBytes - idleBytes) / 2 ** 20),
  ];
}

function p99(summary: Summary | null | undefined): number {
  return summary?.p99 ?? Number.NaN;
}

function cell(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "" : shown(value);
}
