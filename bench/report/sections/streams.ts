/** The section about 2,000 open streams. */
import type { StreamTurn, Streams } from "../../parts/stream.ts";
import { barsSvg } from "../plots/bars.ts";
import { distributionSvg } from "../plots/distribution.ts";
import { median } from "../../measure/median.ts";
import { mebibytes, percentiles, table } from "../table.ts";
import type { Plot, Section } from "./section.ts";

export function streamsSections({ turns }: Streams): Section[] {
  const lines = turns.map(({ contender, round, lateness, firstEvent, idleBytes, loadedBytes, recoveredBytes, cores, failed }) => [
    `${contender}, round ${round}`,
    percentiles(lateness, "p50", "p99", "max"),
    percentiles(firstEvent, "p50", "p99"),
    [idleBytes, loadedBytes, recoveredBytes].map(mebibytes).join(" / "),
    Object.entries(cores)
      .filter(([, share]) => share >= 0.01)
      .map(([name, share]) => `${name} ${share}`)
      .join(", "),
    String(failed),
  ]);
  const head = [
    "2,000 streams",
    "events late, ms: p50 / p99 / max",
    "first event, ms: p50 / p99",
    "RSS MiB: idle / loaded / recovered",
    "cores",
    "failed",
  ];
  const names = [...new Set(turns.map(({ contender }) => contender))];
  const plots = [latenessPlot(turns, names), memoryPlot(turns, names)];
  return [{ name: "streams", title: "Streams", text: table(head, lines), plots }];
}

function latenessPlot(turns: StreamTurn[], names: string[]): Plot {
  const distributions = names.map((name) => {
    return { name, curves: turns.filter(({ contender }) => contender === name).map(({ latenessCurve }) => latenessCurve) };
  });
  const title = "How late events arrive, with 2,000 streams of 10 events a second";
  const svg = distributionSvg({ title, axis: "milliseconds from sending to receiving", distributions });
  return { name: "lateness", svg, alt: "Distribution of the lateness of events, of the bare relay and of Weir" };
}

function memoryPlot(turns: StreamTurn[], names: string[]): Plot {
  const bars = names.map((name) => {
    const own = turns.filter(({ contender }) => contender === name);
    const idle = median(own.map(({ idleBytes }) => idleBytes)) / 2 ** 20;
    const more = median(own.map(({ idleBytes, loadedBytes }) => Math.max(0, loadedBytes - idleBytes))) / 2 ** 20;
    const parts = [
      { name: "idle", value: idle },
      { name: "more with 2,000 streams", value: more },
    ];
    return { name, parts };
  });
  const title = "Memory of the relaying processes with 2,000 streams";
  return { name: "memory", svg: barsSvg({ title, axis: "resident memory, MiB", panels: [{ name: "", bars }] }), alt: title };
}
