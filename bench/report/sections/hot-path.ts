/** The sections about the hot path: requests a second, latency, cost and memory of every contender. */
import type { Cost, Measurement } from "../../measure/measure.ts";
import { openLoopRate, type HotPath } from "../../parts/hot-path.ts";
import { barsSvg } from "../plots/bars.ts";
import { distributionSvg } from "../plots/distribution.ts";
import { median } from "../../measure/median.ts";
import { ceiling, costAtCeiling, sweepsOf } from "../rows.ts";
import { mebibytes, shown, table } from "../table.ts";
import { costBars, costLines, processOrder } from "./costs.ts";
import type { Plot, Section } from "./section.ts";

const openLoad = `${openLoopRate}/s`;
/** Idle processes that use less of a core are not named. */
const idleShareMin = 0.001;

export function hotPathSections({ measurements, memory, idle }: HotPath): Section[] {
  const names = [...new Set(measurements.map(({ contender }) => contender))];
  const best = names.flatMap((name) => costAtCeiling(measurements, name) ?? []);
  const text = [ratesTable(measurements, names), lagText(measurements), idleText(idle)].join("\n\n");
  return [
    {
      name: "hot-path",
      title: "The hot path",
      text,
      plots: [ratePlot(measurements, names), latencyPlot(measurements, names)],
    },
    {
      name: "cost",
      title: "What a request costs",
      text: costTable(best),
      plots: [
        {
          name: "cost",
          svg: barsSvg({
            title: "What a request costs at the ceiling",
            axis: "CPU microseconds a request, by process",
            panels: [{ name: "", bars: costBars(best) }],
            order: processOrder,
          }),
          alt: "CPU microseconds a request at the ceiling, by contender and process",
        },
      ],
    },
    { name: "memory", title: "Memory", text: memoryTable(memory), plots: [] },
  ];
}

function lagText(all: Measurement[]): string {
  const lags = [...Map.groupBy(all, ({ contender }) => contender)].flatMap(([name, own]) => {
    const seconds = own.flatMap(({ lagSeconds }) => lagSeconds ?? []);
    return seconds.length === 0 ? [] : [`${name} ${shown(median(seconds))} s, at most ${shown(Math.max(...seconds))} s`];
  });
  return `From the last answer of a slice until the ledger was complete: ${lags.join("; ")}.`;
}

function idleText(idle: HotPath["idle"]): string {
  const shares = idle
    .filter(({ name }) => isBetween(name))
    .map(({ name, cores }) => {
      const used = Object.entries(cores).filter(([, share]) => share >= idleShareMin);
      const most = used.toSorted(([, one], [, other]) => other - one).map(([process, share]) => `${process} ${percent(share)}`);
      const all = percent(Object.values(cores).reduce((sum, share) => sum + share, 0));
      return most.length > 1 ? `${name} ${all} (${most.join(", ")})` : `${name} ${all}`;
    });
  return `While idle, in % of a core: ${shares.join("; ")}.`;
}

function percent(share: number): string {
  return shown(share * 100);
}

function ratesTable(all: Measurement[], names: string[]): string {
  const sweeps = sweepsOf(all);
  const of = (name: string, load: string, read: (one: Measurement) => number | undefined) =>
    shown(median(all.filter((one) => one.contender === name && one.load === load).map((one) => read(one) ?? Number.NaN)));
  const lines = names.map((name) => {
    const failed = all.filter((one) => one.contender === name).reduce((sum, { result }) => sum + result.failedInAll, 0);
    const open = (read: "p50" | "p99" | "p999") => of(name, openLoad, ({ result }) => result.latencyMs?.[read]);
    const alone = (read: "p50" | "p99") => of(name, "1 connections", ({ result }) => result.latencyMs?.[read]);
    const rate = shown(median(sweeps.map((sweep) => ceiling(sweep, name))));
    return [name, rate, `${alone("p50")} / ${alone("p99")}`, `${open("p50")} / ${open("p99")} / ${open("p999")}`, String(failed)];
  });
  const head = ["contender", "requests/s", "one in flight: p50 / p99 ms", `${openLoad}: p50 / p99 / p99.9 ms`, "failed"];
  return table(head, lines);
}

function costTable(best: Cost[]): string {
  const { head, lines } = costLines(best);
  return table(["CPU µs a request", ...head], lines);
}

function memoryTable(memory: HotPath["memory"]): string {
  const names = [...new Set(memory.map(({ name }) => name))];
  const lines = names.filter(isBetween).map((name) => {
    const own = memory.filter((one) => one.name === name);
    const middle = (read: (one: HotPath["memory"][number]) => number) => mebibytes(median(own.map(read)));
    return [name, middle((one) => one.idleBytes), middle((one) => one.loadedBytes), middle((one) => one.recoveredBytes)];
  });
  return table(["RSS in MiB of all its processes", "idle", "under load", "two seconds after"], lines);
}

/** Whether the contender is a gateway or proxy. A direct call of the provider has no process of its own. */
function isBetween(name: string): boolean {
  return name !== "direct";
}

function ratePlot(all: Measurement[], names: string[]): Plot {
  const sweeps = sweepsOf(all);
  const bars = names.filter(isBetween).map((name) => {
    return { name, parts: [{ name: "requests/s", value: median(sweeps.map((sweep) => ceiling(sweep, name))) }] };
  });
  const title = "Requests a second at the ceiling";
  const svg = barsSvg({ title, axis: "requests a second, median of the sweeps", panels: [{ name: "", bars }] });
  return { name: "rate", svg, alt: "Requests a second at the ceiling, by contender" };
}

function latencyPlot(all: Measurement[], names: string[]): Plot {
  const distributions = names.map((name) => {
    const own = all.filter(({ contender, load }) => contender === name && load === openLoad);
    return { name, curves: own.map(({ result }) => result.latencyCurve) };
  });
  const title = `Latency at ${openLoopRate} requests a second, from when each was due`;
  return {
    name: "latency",
    svg: distributionSvg({ title, axis: "milliseconds", distributions: distributions.filter(({ curves }) => curves.length > 0) }),
    alt: "Distribution of latency by contender",
  };
}
