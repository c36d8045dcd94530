/** A run as a document. */
import type { Measurement } from "../measure/measure.ts";
import type { Facts } from "./facts.ts";
import { ceiling, median, rowsOf, verdictOf, type Row } from "./rows.ts";

/** @param plots file names of plots beside the document */
export function markdownOf(facts: Facts, plots: string[]): string {
  const { machine, versions } = facts;
  const load = machine.loadBefore.map((value) => value.toFixed(1)).join(", ");
  const sections = [
    `# Bench of ${facts.at}`,
    [
      `\`${facts.command}\` at commit ${facts.commit}, on ${machine.cores} cores of ${machine.processor}, ${machine.memoryGiB} GiB, Linux ${machine.kernel}.`,
      `Load of the machine before the run (1, 5, 15 min): ${load}. ${Object.entries(versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(", ")}.`,
      ...facts.leftOut.map((line) => `${line}.`),
    ].join("\n"),
    ...(facts.invalid.length > 0 ? [`**This run is not a result:** ${facts.invalid.join("; ")}.`] : []),
    tableOf(rowsOf(facts)),
    ...(facts.hotPath ? [hotPathTable(facts.hotPath.measurements), costTable(facts.hotPath.measurements)] : []),
    ...(facts.hotPath ? [`Metering lag after the last load, in seconds: ${JSON.stringify(facts.hotPath.lagSeconds)}`] : []),
    ...(facts.streams ? [streamsTable(facts.streams)] : []),
    ...(facts.soak ? [soakText(facts.soak)] : []),
    ...plots.map((plot) => `![${plot}](${plot})`),
  ];
  return `${sections.join("\n\n")}\n`;
}

export function tableOf(rows: Row[]): string {
  const lines = rows.map((row) => {
    const { what, bar, goal, unit, values } = row;
    const range = values.length > 1 ? ` (${shown(Math.min(...values))} to ${shown(Math.max(...values))})` : "";
    const reached = values.length === 0 ? "" : `${shown(median(values))} ${unit}${range}`.replace("  ", " ");
    return [what, `${bar} ${unit}`.trim(), `${goal} ${unit}`.trim(), reached, verdictOf(row)];
  });
  return table(["what", "bar", "goal", "reached: median (least to most)", ""], lines);
}

function hotPathTable(all: Measurement[]): string {
  const rounds = [...new Set(all.map(({ round }) => round))];
  const names = [...new Set(all.map(({ contender }) => contender))];
  const of = (name: string, load: string, read: (one: Measurement) => number | undefined) =>
    shown(median(all.filter((one) => one.contender === name && one.load === load).map((one) => read(one) ?? Number.NaN)));
  const openLoad = all.find(({ load }) => load.endsWith("/s"))?.load ?? "";
  const lines = names.map((name) => {
    const failed = all.filter((one) => one.contender === name).reduce((sum, { result }) => sum + result.failedInAll, 0);
    const open = (read: "p50" | "p99" | "p999") => of(name, openLoad, ({ result }) => result.latencyMs?.[read]);
    return [
      name,
      shown(median(rounds.map((round) => ceiling(all, name, round)))),
      of(name, "1 connections", ({ result }) => result.latencyMs?.p50),
      of(name, "1 connections", ({ result }) => result.latencyMs?.p99),
      `${open("p50")} / ${open("p99")} / ${open("p999")}`,
      String(failed),
    ];
  });
  const head = [
    "contender",
    "req/s",
    "p50 ms, one in flight",
    "p99 ms, one in flight",
    `p50 / p99 / p99.9 ms at ${openLoad}`,
    "failed",
  ];
  return table(head, lines);
}

/** At the number of connections that gave the most answers. */
export function bestOf(all: Measurement[], contender: string): Measurement | undefined {
  const own = all.filter((one) => one.contender === contender && one.load.endsWith("connections"));
  return own.toSorted((one, other) => other.result.perSecond - one.result.perSecond)[0];
}

function costTable(all: Measurement[]): string {
  const names = [...new Set(all.map(({ contender }) => contender))];
  const lines = names.flatMap((name) => {
    const costs = bestOf(all, name)?.cpuPer1000 ?? {};
    const text = Object.entries(costs)
      .filter(([, seconds]) => seconds > 0)
      .map(([process, seconds]) => `${process} ${seconds}`);
    return [[name, text.join(", ")]];
  });
  return table(["contender", "CPU seconds per 1,000 requests at its ceiling, by process"], lines);
}

function streamsTable({ turns }: NonNullable<Facts["streams"]>): string {
  const mebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(0);
  const lines = turns.map(({ contender, round, lateness, firstEvent, idleBytes, loadedBytes, recoveredBytes, cores, failed }) => [
    `${contender}, round ${round}`,
    `${lateness?.p50} / ${lateness?.p99} / ${lateness?.max}`,
    `${firstEvent?.p50} / ${firstEvent?.p99}`,
    [idleBytes, loadedBytes, recoveredBytes].map(mebibytes).join(" / "),
    Object.entries(cores)
      .filter(([, share]) => share >= 0.01)
      .map(([name, share]) => `${name} ${share}`)
      .join(", "),
    String(failed),
  ]);
  const head = [
    "streams",
    "lateness of events ms p50 / p99 / max",
    "first event ms p50 / p99",
    "RSS MiB idle / loaded / recovered",
    "cores",
    "failed",
  ];
  return table(head, lines);
}

function soakText({ perSecond, result, lagSeconds, memory }: NonNullable<Facts["soak"]>): string {
  const { latencyMs } = result;
  const figures = `p50 ${latencyMs?.p50} ms, p99 ${latencyMs?.p99} ms, p99.9 ${latencyMs?.p999} ms`;
  const lines = memory.map(({ process, idleBytes, loadedBytes, recoveredBytes }) => [
    process,
    ...[idleBytes, loadedBytes, recoveredBytes].map((bytes) => (bytes / 2 ** 20).toFixed(0)),
  ]);
  const text = `Soak: ${result.succeeded} requests at ${perSecond} /s, ${figures}; the ledger had everything ${lagSeconds} s after the last.`;
  return `${text}\n\n${table(["process", "RSS MiB idle", "loaded", "recovered"], lines)}`;
}

function table(head: string[], lines: string[][]): string {
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [row(head), row(head.map(() => "---")), ...lines.map(row)].join("\n");
}

export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
