/** The sections about other gateways, governed and not: speed beside Weir's, and requests beyond a limit. */
import { median } from "../../measure/median.ts";
import type { Measurement } from "../../measure/measure.ts";
import { overspendCases, type Overspend } from "../../overspend/run.ts";
import { requestsAllowed, requestsAtOnce } from "../../overspend/limit.ts";
import { passed } from "../../overspend/send.ts";
import { manyLoad, peerConnections, streamedLoad, weirName, type PeersRun } from "../../parts/peers.ts";
import { barsSvg } from "../plots/bars.ts";
import { addedMs, costAt, sweepsOf } from "../rows.ts";
import { mebibytes, shown, table } from "../table.ts";
import { ownCostsOf, totalOf } from "./costs.ts";
import type { Plot, Section } from "./section.ts";

const closedLoads = peerConnections.map((count) => `${count} connections`);
const allLoads = [...closedLoads, streamedLoad];
const shownLoad = (load: string): string =>
  ({ "1 connections": "1 connection", [streamedLoad]: "32 connections, streamed" })[load] ?? load;
/** The provider without a gateway has neither processes nor a part in the plot. */
const direct = "direct";

export function peersSections(run: PeersRun): Section[] {
  const names = [...new Set(run.measurements.map(({ contender }) => contender))];
  const text = [
    speedTable(run, names),
    `Requests a second ÷ those of ${weirName} in the same sweep, median (least to most):`,
    ratioTable(run.measurements, names),
    overspendText(run.overspend),
  ].join("\n\n");
  return [{ name: "peers", title: "Beside other gateways", text, plots: [plot(run.measurements, names)] }];
}

function speedTable({ measurements, memory }: PeersRun, names: string[]): string {
  const lines = names.map((name) => {
    const own = measurements.filter(({ contender }) => contender === name);
    const rates = closedLoads.map((load) => shown(rateOf(own, load)));
    const added = (read: "p50" | "p99") =>
      name === direct ? "" : shown(median(sweepsOf(measurements).map((sweep) => addedMs(sweep, name, read))));
    const cost = costAt(measurements, name, manyLoad);
    const micros = cost === null ? Number.NaN : totalOf(ownCostsOf(cost));
    const failed = own.reduce((sum, { result }) => sum + result.failedInAll, 0);
    return [
      name,
      rates.join(" / "),
      name === direct ? "" : `${added("p50")} / ${added("p99")}`,
      shown(rateOf(own, streamedLoad)),
      name === direct ? "" : shown(micros),
      memoryOf(memory, name),
      String(failed),
    ];
  });
  const head = [
    "contender",
    `requests/s at ${peerConnections.join(" / ")}`,
    "added at 1, ms: p50 / p99",
    "streamed requests/s at 32",
    "CPU µs a request at 128",
    "RSS MiB, idle / loaded",
    "failed",
  ];
  return table(head, lines);
}

function rateOf(own: Measurement[], load: string): number {
  return median(own.filter((one) => one.load === load).map(({ result }) => result.perSecond));
}

/** Weir's processes are measured as an installation with a shorter name. */
function memoryOf(memory: PeersRun["memory"], name: string): string {
  const own = memory.filter((one) => one.name === name || (name === weirName && name.startsWith(`${one.name} `)));
  const [idle, loaded] = [own.map(({ idleBytes }) => idleBytes), own.map(({ loadedBytes }) => loadedBytes)];
  return name === direct ? "" : `${mebibytes(median(idle))} / ${mebibytes(median(loaded))}`;
}

function ratioTable(all: Measurement[], names: string[]): string {
  const lines = names
    .filter((name) => name !== weirName)
    .map((name) => [name, ...allLoads.map((load) => spread(ratiosOf(all, name, load)))]);
  return table([`÷ ${weirName}`, ...allLoads.map(shownLoad)], lines);
}

/** One for each sweep. */
export function ratiosOf(all: Measurement[], name: string, load: string): number[] {
  return sweepsOf(all)
    .map((sweep) => {
      const rate = (contender: string) =>
        sweep.find((one) => one.contender === contender && one.load === load)?.result.perSecond ?? Number.NaN;
      return rate(name) / rate(weirName);
    })
    .filter(Number.isFinite);
}

function spread(values: number[]): string {
  return `${shown(median(values))} (${shown(Math.min(...values))} to ${shown(Math.max(...values))})`;
}

function overspendText(overspend: Overspend[]): string {
  const names = [...new Set(overspend.map(({ contender }) => contender))];
  const lines = names.map((name) => [
    name,
    ...overspendCases.map((one) => {
      const found = overspend.find(({ contender, case: what }) => contender === name && what === one.name);
      if (found === undefined) return "";
      return found.again === null ? String(passed(found.first)) : `${passed(found.first)}, then ${passed(found.again)}`;
    }),
  ]);
  const first = `${requestsAtOnce} requests at once with one key that may make ${requestsAllowed}: how many passed, and how many of ${requestsAtOnce} more, 3 seconds later.`;
  return `${first}\n\n${table(["limit", ...overspendCases.map(({ name }) => name)], lines)}`;
}

function plot(all: Measurement[], names: string[]): Plot {
  const panels = allLoads.map((load) => ({
    name: shownLoad(load),
    bars: names
      .filter((name) => name !== direct)
      .map((name) => {
        const own = all.filter(({ contender }) => contender === name);
        return { name, parts: [{ name: "requests/s", value: rateOf(own, load) }] };
      }),
  }));
  const title = "Requests a second beside other gateways";
  const svg = barsSvg({ title, axis: "requests a second, median of the sweeps", panels });
  return { name: "peers", svg, alt: "Requests a second at 1, 32 and 128 connections and streamed, by gateway" };
}
