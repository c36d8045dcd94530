/** Writes a run to bench/results: all figures as JSON, a document, and plots. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { resultsFolder, root } from "../paths.ts";
import type { Facts } from "./facts.ts";
import { bodyOf } from "./sections/section.ts";
import { sectionsOf } from "./sections/sections.ts";

/** @returns the document's path, relative to the root */
export function writeReport(facts: Facts): string {
  mkdirSync(resultsFolder, { recursive: true });
  const name = facts.at.slice(0, 16).replace("T", "-").replace(":", "");
  writeFileSync(join(resultsFolder, `${name}.json`), `${JSON.stringify(facts, null, 2)}\n`);
  const sections = sectionsOf(facts);
  for (const plot of sections.flatMap(({ plots }) => plots)) {
    writeFileSync(join(resultsFolder, `${name}-${plot.name}.svg`), plot.svg);
  }
  const texts = sections.map((section) => `## ${section.title}\n\n${bodyOf(section, (plot) => `${name}-${plot.name}.svg`)}`);
  const path = join(resultsFolder, `${name}.md`);
  writeFileSync(path, `# Bench of ${facts.at}\n\n${texts.join("\n\n")}\n`);
  return relative(root, path);
}
