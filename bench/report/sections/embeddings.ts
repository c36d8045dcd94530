/** The section about embeddings. */
import { embeddingConnections, type Embeddings } from "../../parts/embeddings.ts";
import { shown, table } from "../table.ts";
import { ownCostsOf, totalOf } from "./costs.ts";
import type { Section } from "./section.ts";

export function embeddingsSections({ measurements }: Embeddings): Section[] {
  const names = [...new Set(measurements.map(({ contender }) => contender))];
  const median = (name: string, connections: number, of: (one: Embeddings["measurements"][number]) => number): number => {
    const load = `${connections} connections`;
    const values = measurements.filter((one) => one.contender === name && one.load === load).map(of);
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  };
  const p50 = (name: string): number =>
    median(name, embeddingConnections.latency, ({ result }) => result.latencyMs?.p50 ?? Number.NaN);
  const lines = names.map((name) => {
    const own = median(name, embeddingConnections.ceiling, (one) => totalOf(ownCostsOf(one)));
    const failed = measurements
      .filter(({ contender }) => contender === name)
      .reduce((sum, { result }) => sum + result.failedInAll, 0);
    return [
      name,
      shown(median(name, embeddingConnections.ceiling, ({ result }) => result.perSecond)),
      shown(p50(name)),
      name === "direct" ? "" : shown(p50(name) - p50("direct")),
      own === 0 ? "" : shown(own / 1_000),
      String(failed),
    ];
  });
  const { latency, ceiling } = embeddingConnections;
  const head = [
    "contender",
    `requests/s, ${ceiling} connections`,
    `p50 ms, ${latency} connection`,
    "added p50 ms",
    "CPU ms a request",
    "failed",
  ];
  const title = "Embeddings: 16 texts of 1 KiB, vectors of 1,536 numbers in base64";
  return [{ name: "embeddings", title, text: table(head, lines), plots: [] }];
}
