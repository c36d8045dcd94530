/** The section about the cost of single functions. */
import type { MicroResult } from "../../micro/run.ts";
import { shown, table } from "../table.ts";
import type { Section } from "./section.ts";

export function microSections(results: MicroResult[]): Section[] {
  const lines = results.map(({ question, what, unit, median, least }) => [question, what, unit, shown(median), shown(least)]);
  const text = table(["function", "case", "per", "µs, median", "µs, best"], lines);
  return [{ name: "micro", title: "What one function costs", text, plots: [] }];
}
