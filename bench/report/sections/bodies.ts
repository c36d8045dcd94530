/** The section about bodies of several sizes. */
import type { Bodies, BodyCase } from "../../parts/bodies.ts";
import { barsSvg } from "../plots/bars.ts";
import { percentiles, shown, table } from "../table.ts";
import { ownCostsOf, totalOf } from "./costs.ts";
import type { Section } from "./section.ts";

type Row = Bodies["measurements"][number];

export function bodiesSections({ cases, measurements }: Bodies): Section[] {
  const lines = cases.flatMap((one) => {
    const closed = measurements.filter((row) => row.case === one.name && row.loop === "closed");
    return closed.map((row) => lineOf(one, row, openOf(row, measurements)));
  });
  const head = [
    "body",
    "contender",
    "requests/s",
    "MB/s",
    "p50 / p99 ms",
    "at the rate of",
    "p50 / p99 ms",
    "CPU ms a request",
    "failed",
  ];
  const panels = cases.map(({ name, connections }) => {
    const rows = measurements.filter((row) => row.case === name && row.loop === "closed");
    const between = rows.map(({ measurement }) => measurement).filter(({ contender }) => contender !== "direct");
    const bars = between.map(({ contender, result }) => {
      return { name: contender, parts: [{ name: "requests/s", value: result.perSecond }] };
    });
    return { name: `${name}, ${connections} connections`, bars };
  });
  const title = "Requests a second with bodies of several sizes";
  const svg = barsSvg({ title, axis: "requests a second", panels });
  const plot = { name: "bodies", svg, alt: "Requests a second with bodies of 1 KiB, 100 KiB and 8 MiB, by contender" };
  return [{ name: "bodies", title: "Large bodies", text: table(head, lines), plots: [plot] }];
}

function openOf({ case: name, measurement }: Row, all: Row[]): Row | undefined {
  return all.find((row) => row.case === name && row.loop === "open" && row.measurement.contender === measurement.contender);
}

function lineOf({ name, bytes, rate }: BodyCase, { measurement }: Row, open: Row | undefined): string[] {
  const { contender, result } = measurement;
  const own = totalOf(ownCostsOf(measurement));
  const failed = result.failedInAll + (open?.measurement.result.failedInAll ?? 0);
  return [
    name,
    contender,
    shown(result.perSecond),
    shown((result.perSecond * bytes) / 1_000_000),
    percentiles(result.latencyMs, "p50", "p99"),
    `${rate}/s`,
    percentiles(open?.measurement.result.latencyMs, "p50", "p99"),
    own === 0 ? "" : shown(own / 1_000),
    failed === 0 ? "0" : `${failed} ${JSON.stringify({ ...result.codes, ...open?.measurement.result.codes })}`,
  ];
}
