/** The section about the connector catalog. */
import type { Catalog } from "../../parts/catalog.ts";
import { percentiles, shown, table } from "../table.ts";
import type { Section } from "./section.ts";

export function catalogSections({ cases }: Catalog): Section[] {
  const lines = cases.map(({ name, bytes, latencyMs }) => [
    words[name],
    bytes === 0 ? "none" : `${shown(bytes / 1_024)} KiB`,
    percentiles(latencyMs, "p50", "p99"),
  ]);
  const text = table(["request", "sent", "ms, p50 / p99"], lines);
  return [{ name: "catalog", title: "The connector catalog", text, plots: [] }];
}

const words: Record<Catalog["cases"][number]["name"], string> = {
  export: "the whole export, NDJSON",
  "compressed export": "the same, compressed",
  "304": "the same, with its ETag",
  "list page": "the first page of the list for people",
  "connector pages": "the connectors' pages in turn, each rendered again",
};
