/** `npm run bench -- publish [results.json]`: puts the tables and plots of a result into the docs, so that no figure is typed by hand. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { docsFolder, root } from "../paths.ts";
import { UsageError } from "../usage-error.ts";
import { partNames, type Facts } from "./facts.ts";
import { newestWith, readFacts } from "./results.ts";
import { bodyOf, type Section } from "./sections/section.ts";
import { sectionsOf } from "./sections/sections.ts";

export const publishUsage = `npm run bench -- publish [results.json]

  puts the tables and plots of a result with every part (default: the newest) into docs/internals/performance.md, bench/results/tables.md and
  docs/internals/performance, and its headline figures into docs/explanation/performance.md; of a named result with some parts it puts those, each
  with the run that it is from`;

export function publishCommand([given, ...more]: string[]): number {
  if (more.length > 0) throw new UsageError(publishUsage);
  const path = given ?? newestWith(partNames);
  if (path === null) throw new UsageError("There is no result with every part: run npm run bench -- all");
  const facts = readFacts(path);
  if (facts.invalid.length > 0)
    throw new UsageError(`"${path}" cannot be published, since the run is invalid: ${facts.invalid.join("; ")}`);
  const isWhole = partNames.every((name) => facts[name] !== undefined);
  const sections = isWhole ? sectionsOf(facts) : sectionsOfParts(facts);
  if (sections.length === 0) throw new UsageError(`"${path}" cannot be published: it has no part with a place in the document`);
  for (const page of pages) writePage(page, sections, isWhole);
  writePlots(sections);
  dropLostPlots();
  console.log(`${pages.map(({ path: shown }) => shown).join(", ")} now show ${path}`);
  return 0;
}

export interface Page {
  path: string;
  /** The way from it to the folder of plots. */
  plots: string;
  /** Whether this section has its place there. */
  shows(section: Section): boolean;
}

const headline = "headline";
/** Parts whose tables are long, or of interest to few. */
const tables = ["memory", "bodies", "catalog", "console", "micro", "shared-out"];
export const pages: Page[] = [
  {
    path: "docs/internals/performance.md",
    plots: "performance",
    shows: ({ name }) => name !== headline && !tables.includes(name),
  },
  { path: "bench/results/tables.md", plots: "../../docs/internals/performance", shows: ({ name }) => tables.includes(name) },
  { path: "docs/explanation/performance.md", plots: "../internals/performance", shows: ({ name }) => name === headline },
];

function writePage({ path, plots, shows }: Page, all: Section[], isWhole: boolean): void {
  const file = join(root, path);
  const before = readFileSync(file, "utf8");
  const sections = all.filter(shows);
  writeFileSync(
    file,
    isWhole ? withSections(before, sections, plots) : sections.reduce((text, one) => withSection(text, one, plots), before),
  );
  spawnSync(process.execPath, ["fmt", file], { cwd: root });
}

/** What is said of a whole run. */
const wholeNames = ["run", "goals", headline];

/** The sections of a run of some parts, each with where and when it was made. */
export function sectionsOfParts(facts: Facts): Section[] {
  const sections = sectionsOf(facts);
  const run = sections.find(({ name }) => name === "run")?.text ?? "";
  return sections
    .filter(({ name }) => !wholeNames.includes(name))
    .map((section) => ({ ...section, text: `${run}\n\n${section.text}` }));
}

/** Sections of parts that few machines can run. A whole run without them leaves what the document has of an earlier run. */
const optionalNames = ["peers"];

/** @throws UsageError when a section has no place in the document, or a place has no section */
export function withSections(document: string, sections: Section[], plots: string): string {
  const places = [...document.matchAll(/<!-- bench:([a-z-]+) -->/g)].map(([, name = ""]) => name);
  const names = sections.map(({ name }) => name);
  const isMissing = (name: string) => !names.includes(name) && !optionalNames.includes(name);
  const mismatches = [...places.filter(isMissing), ...names.filter((name) => !places.includes(name))];
  if (mismatches.length > 0) throw new UsageError(`The document and the result do not fit: ${mismatches.join(", ")}`);
  return sections.reduce((text, section) => withSection(text, section, plots), document);
}

function withSection(document: string, section: Section, plots: string): string {
  const { name } = section;
  const place = new RegExp(`(<!-- bench:${name} -->)[^]*?(<!-- /bench:${name} -->)`);
  const body = bodyOf(section, (plot) => `${plots}/${plot.name}.svg`);
  return document.replace(place, (_, start: string, end: string) => `${start}\n\n${body}\n\n${end}`);
}

const plotsFolder = join(docsFolder, "internals/performance");

function writePlots(sections: Section[]): void {
  mkdirSync(plotsFolder, { recursive: true });
  for (const { name, svg } of sections.flatMap(({ plots }) => plots)) writeFileSync(join(plotsFolder, `${name}.svg`), svg);
}

/** Deletes plots that no page shows any more. */
function dropLostPlots(): void {
  const shown = pages.map(({ path }) => readFileSync(join(root, path), "utf8")).join("\n");
  for (const name of readdirSync(plotsFolder)) {
    if (!shown.includes(`performance/${name})`)) rmSync(join(plotsFolder, name));
  }
}
