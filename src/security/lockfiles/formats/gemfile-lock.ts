/**
 * Gemfile.lock and gems.locked. Gems for several platforms count as one, and groups are not recorded.
 * Source: Bundler's own reader, bundler/lib/bundler/lockfile_parser.rb in rubygems/rubygems
 */
import { LockFileError, LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";

/** @throws LockFileError with the line */
export function readGemfileLock(text: string): LockGraph {
  const { specs, needed } = parsed(text);
  const graph = new LockGraphBuilder();
  const purls = new Map<string, string>();
  for (const { name, version, isOwn } of specs) {
    if (!isOwn) purls.set(name, graph.add({ ecosystem: "RubyGems", name, version }));
  }
  for (const { name, isOwn, needs } of specs) {
    const from = isOwn ? null : (purls.get(name) ?? null);
    for (const to of needs.flatMap((need) => purls.get(need) ?? [])) graph.need(from, to);
  }
  for (const to of needed.flatMap((name) => purls.get(name) ?? [])) graph.need(null, to);
  return graph.finish();
}

interface Spec {
  name: string;
  version: string;
  isOwn: boolean;
  needs: string[];
}

/** `PATH` lists gems of the repository itself. */
const sources = new Set(["GEM", "GIT", "PATH", "PLUGIN SOURCE"]);

function parsed(text: string): { specs: Spec[]; needed: string[] } {
  const specs: Spec[] = [];
  const needed: string[] = [];
  let section = "";
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^(?:<{7}|={7}|>{7})/.test(line))
      throw new LockFileError(`line ${index + 1}: is the mark of a merge that is not resolved`);
    if (/^\S/.test(line)) section = line.trim();
    else if (sources.has(section) && /^ {4}\S/.test(line)) specs.push(specOf(line, { number: index + 1, section }));
    else if (sources.has(section) && /^ {6}\S/.test(line)) specs.at(-1)?.needs.push(nameOf(line));
    else if (section === "DEPENDENCIES" && /^ {2}\S/.test(line)) needed.push(nameOf(line));
  }
  if (section === "") throw new LockFileError("has no section such as GEM");
  return { specs, needed };
}

/** `name (1.2.3)`, with an optional platform after the version: `nokogiri (1.15.4-x86_64-linux)`. Versions here contain no dashes. */
function specOf(line: string, { number, section }: { number: number; section: string }): Spec {
  const [, name, version] = /^ {4}(\S+) \(([^\s()-]+)(?:-[^\s()]+)?\)$/.exec(line) ?? [];
  if (name === undefined || version === undefined) {
    throw new LockFileError(`line ${number}: is ${quoted(line.trim())}; a gem with its version, "name (1.2.3)", is needed`);
  }
  return { name, version, isOwn: section === "PATH", needs: [] };
}

/** Gems from other sources are followed by an exclamation mark. */
function nameOf(line: string): string {
  const [name = ""] = line.trim().split(" ", 1);
  return name.replace(/!$/, "");
}
