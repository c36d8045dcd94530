/** The section about the soak, a minute at 80 % of the ceiling. */
import type { Soak } from "../../parts/soak.ts";
import { linesSvg } from "../plots/lines.ts";
import { linearScale } from "../plots/scale.ts";
import { mebibytes, percentiles, shown, table } from "../table.ts";
import type { Plot, Section } from "./section.ts";

export function soakSections(soak: Soak): Section[] {
  const { ceilingPerSecond, perSecond, result, lagSeconds, memory } = soak;
  const { latencyMs, sendLatenessMs } = result;
  const lines = memory.map(({ process, idleBytes, loadedBytes, recoveredBytes }) => [
    process,
    ...[idleBytes, loadedBytes, recoveredBytes].map(mebibytes),
  ]);
  const text = [
    `${shown(result.succeeded)} requests in ${result.seconds.toFixed(0)} s, ${shown(perSecond)} a second: 80 % of the`,
    `${shown(ceilingPerSecond)} that 128 connections had sustained just before. Latency in milliseconds from when each was due,`,
    `p50 / p99 / p99.9: ${percentiles(latencyMs, "p50", "p99", "p999")}; sent late, p99: ${percentiles(sendLatenessMs, "p99")}.`,
    `The ledger was complete ${shown(lagSeconds)} s after the last answer.`,
  ];
  const head = ["RSS in MiB", "idle", "under load", "ten seconds after"];
  return [
    { name: "soak", title: "A minute at 80 %", text: `${text.join(" ")}\n\n${table(head, lines)}`, plots: [lagPlot(soak)] },
  ];
}

function lagPlot({ unsettled, perSecond }: Soak): Plot {
  const title = `Unsettled generations at ${shown(perSecond)} requests a second`;
  const points = unsettled.map(({ second, generations }): [number, number] => [second, generations]);
  const svg = linesSvg({
    title,
    x: { title: "seconds", scale: (span) => linearScale(Math.max(...points.map(([x]) => x)), span), label: shown },
    y: {
      title: "requests that are open or not booked yet",
      scale: (span) => linearScale(Math.max(...points.map(([, y]) => y)), span),
      label: shown,
    },
    series: [{ name: "metering", points }],
  });
  return { name: "lag", svg, alt: "Number of unsettled generations over the time of the soak" };
}
