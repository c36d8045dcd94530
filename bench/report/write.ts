/** Writes a run to bench/results: everything as JSON, a document, and plots. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { resultsFolder, root } from "../places.ts";
import { barsSvg, type Bar } from "./bars.ts";
import type { Facts } from "./facts.ts";
import { bestOf, markdownOf } from "./markdown.ts";

/** @returns the document's path from the root */
export function writeReport(facts: Facts): string {
  mkdirSync(resultsFolder, { recursive: true });
  const name = facts.at.slice(0, 16).replace("T", "-").replace(":", "");
  const plots = Object.entries(plotsOf(facts)).map(([plot, svg]) => {
    writeFileSync(join(resultsFolder, `${name}-${plot}.svg`), svg);
    return `${name}-${plot}.svg`;
  });
  writeFileSync(join(resultsFolder, `${name}.json`), `${JSON.stringify(facts, null, 2)}\n`);
  const path = join(resultsFolder, `${name}.md`);
  writeFileSync(path, markdownOf(facts, plots));
  return relative(root, path);
}

function plotsOf({ hotPath, streams }: Facts): Record<string, string> {
  return { ...(hotPath ? hotPathPlots(hotPath) : {}), ...(streams ? streamPlots(streams) : {}) };
}

function hotPathPlots({ measurements }: NonNullable<Facts["hotPath"]>): Record<string, string> {
  const names = [...new Set(measurements.map(({ contender }) => contender))];
  const best = names.flatMap((name) => bestOf(measurements, name) ?? []);
  const rates: Bar[] = best.map(({ contender, result }) => ({
    name: contender,
    parts: [{ name: "req/s", value: result.perSecond }],
  }));
  const costs: Bar[] = best.map(({ contender, cpuPer1000 }) => {
    const parts = Object.entries(cpuPer1000).map(([name, value]) => ({ name: plainName(name), value }));
    return { name: contender, parts };
  });
  const alone = measurements.filter(({ load }) => load === "1 connections");
  const latencies: Bar[] = names.flatMap((name) => {
    const p50 = Math.min(
      ...alone.filter(({ contender }) => contender === name).map(({ result }) => result.latencyMs?.p50 ?? Infinity),
    );
    return Number.isFinite(p50) ? [{ name, parts: [{ name: "p50", value: p50 }] }] : [];
  });
  return {
    rate: barsSvg({ title: "Answers a second at the ceiling, best round", bars: rates }),
    cost: barsSvg({ title: "CPU seconds per 1,000 requests at the ceiling, by process", bars: costs }),
    latency: barsSvg({ title: "Latency p50 in ms with one request in flight, best round", bars: latencies }),
  };
}

/** Several gateways are one part of the bar. */
function plainName(process: string): string {
  return process.replace(/ \d+$/, "");
}

function streamPlots({ turns }: NonNullable<Facts["streams"]>): Record<string, string> {
  const bars: Bar[] = turns.map(({ contender, round, idleBytes, loadedBytes }) => ({
    name: `${contender} ${round}`,
    parts: [
      { name: "idle", value: idleBytes / 2 ** 20 },
      { name: "2,000 streams", value: Math.max(0, loadedBytes - idleBytes) / 2 ** 20 },
    ],
  }));
  return { memory: barsSvg({ title: "Resident memory in MiB of the process that relays", bars }) };
}
