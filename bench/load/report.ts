/** Formats the result of a load for people. */
import type { Summary } from "./histogram.ts";
import type { Result } from "./tally.ts";

const barWidth = 40;

export function reportOf(result: Result): string {
  const lines = [
    `${result.mode}, ${result.seconds.toFixed(1)} s`,
    ``,
    `requests    ${result.succeeded} succeeded, ${result.failed} failed: ${result.perSecond} /s (at most ${result.underWayMax} open at once)`,
    `statuses    ${countsOf(result.statuses)}`,
    ...(Object.keys(result.codes).length > 0 ? [`failures    ${countsOf(result.codes)}`] : []),
    ...(result.events > 0 ? [`events      ${result.events}`] : []),
    ``,
    `milliseconds      mean       p50       p90       p99     p99.9       max`,
    ...rowOf("latency", result.latencyMs),
    ...rowOf("first event", result.firstEventMs),
    ...rowOf("gap", result.gapMs),
    ...rowOf("lateness", result.eventLatenessMs),
    ...rowOf("sent late", result.sendLatenessMs),
    ``,
    ...histogramOf(result.latencyDoublings),
  ];
  return lines.join("\n");
}

function countsOf(counts: Record<string, number>): string {
  return Object.entries(counts)
    .toSorted(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name}: ${count}`)
    .join(", ");
}

function rowOf(name: string, summary: Summary | null): string[] {
  if (summary === null) return [];
  const { mean, p50, p90, p99, p999, max } = summary;
  return [name.padEnd(12) + [mean, p50, p90, p99, p999, max].map((ms) => millisecondsText(ms).padStart(10)).join("")];
}

export function millisecondsText(ms: number): string {
  return ms < 10 ? ms.toFixed(3) : ms < 1_000 ? ms.toFixed(1) : ms.toFixed(0);
}

function histogramOf(rows: Result["latencyDoublings"]): string[] {
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const bar = (count: number) => "#".repeat(Math.ceil((count / most) * barWidth));
  return rows.map(({ upToMs, count }) =>
    `< ${millisecondsText(upToMs).padStart(8)} ms ${String(count).padStart(9)} ${bar(count)}`.trimEnd(),
  );
}
