/** The section about the Console. */
import { clickingPeople, type ConsoleTimes, type TrafficRound } from "../../parts/console.ts";
import type { PageTimes } from "../../console/visit.ts";
import type { Result } from "../../load/tally.ts";
import { barsSvg } from "../plots/bars.ts";
import { percentiles, shown, table } from "../table.ts";
import type { Section } from "./section.ts";

const visitors = ["member", "auditor", "admin", "operator"] as const;

export function consoleSections(console: ConsoleTimes): Section[] {
  const names = [...new Set(console.pages.map(({ page }) => page))].toSorted();
  const found = names.map((name) => ({ name, all: console.pages.filter(({ page }) => page === name) }));
  const lines = found.map(({ name, all }) => [
    name,
    ...visitors.map((visitor) => timesOf(all.find((one) => one.visitor === visitor))),
    shown(Math.max(...all.map(({ firstMs }) => firstMs))),
    shown(Math.max(...all.map(({ bytes }) => bytes)) / 1_024),
  ]);
  const head = ["page", ...visitors.map((visitor) => `${visitor}, ms, p50 / p99`), "first view, ms", "KiB"];
  const bars = found.map(({ name, all }) => ({
    name,
    parts: [{ name: "p99", value: Math.max(...all.map(({ latencyMs }) => latencyMs?.p99 ?? 0)) }],
  }));
  const axis = "milliseconds from request to last byte, p99, of the slowest role";
  const svg = barsSvg({ title: "Pages of the Console", axis, panels: [{ name: "", bars }], nameWidth: 230 });
  const plot = { name: "console", svg, alt: "The 99th percentile of the time of each page of the Console, of the slowest role" };
  const text = [table(head, lines), trafficTable(console)].join("\n\n");
  return [{ name: "console", title: "The Console", text, plots: [plot] }];
}

function timesOf(one: PageTimes | undefined): string {
  return one === undefined ? "" : percentiles(one.latencyMs, "p50", "p99");
}

function trafficTable({ requestsPerSecond, direct, traffic }: ConsoleTimes): string {
  const line = (load: string, result: Result, clicks = ""): string[] => [
    load,
    percentiles(result.latencyMs, "p50", "p99", "max"),
    clicks,
  ];
  const pages = (refreshed: TrafficRound["refreshed"]): string =>
    refreshed === undefined ? "" : `, ${refreshed.tabs} pages refresh themselves (${refreshed.rendered.toFixed(1)} a second)`;
  const rounds = traffic.flatMap(({ alone, beside, clicks, refreshed }, n) => [
    line(`round ${n + 1}, without clicks`, alone),
    line(
      `round ${n + 1}, ${clickingPeople} people click without pause${pages(refreshed)}`,
      beside,
      `${clicks.perSecond} a second: ${percentiles(clicks.latencyMs, "p50", "p99")}`,
    ),
  ]);
  const head = [`${requestsPerSecond} requests a second`, "ms, p50 / p99 / max", "clicks, ms, p50 / p99"];
  return table(head, [line("the provider, without a gateway", direct), ...rounds]);
}
