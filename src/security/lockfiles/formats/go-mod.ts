/**
 * go.mod, and go.sum for modules before Go 1.17: since then, go.mod names all modules of a build. `replace` and `exclude` are followed.
 *
 * Go's standard library is read only on request: go.mod names the toolchain that it suggests and the oldest that may build, but a build takes
 * a newer one that is installed, so that the line may be older than what is built.
 * Sources: https://go.dev/ref/mod#go-mod-file, https://go.dev/ref/mod#go-sum-files and https://go.dev/doc/toolchain
 */
import { compareVersions, readVersion } from "../../versions/version.ts";
import { LockFileError, LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";

interface GoModFile {
  text: string;
  /** The text of go.sum; null if there is none. */
  sum: string | null;
  /** Whether Go's standard library counts as a package. */
  withToolchain: boolean;
}

/** @throws LockFileError with the line */
export function readGoMod({ text, sum, withToolchain }: GoModFile): LockGraph {
  const directives = goDirectives(text);
  const graph = new LockGraphBuilder();
  const replaced = replacements(directives);
  const excluded = new Set(directives.filter(({ verb }) => verb === "exclude").map(({ words }) => words.join(" ")));
  const named = new Set<string>();
  for (const directive of directives.filter(({ verb }) => verb === "require")) {
    const required = moduleOf(directive);
    named.add(required.path);
    if (excluded.has(`${required.path} ${required.version}`))
      graph.skip(required.path, `${required.version} is excluded by the file itself`);
    else addModule(required, { isIndirect: /^indirect(?:;|$)/.test(directive.comment), replaced, graph });
  }
  if (sum !== null && isBefore117(directives)) {
    for (const module of builtModules(sum)) if (!named.has(module.path)) addModule(module, { isIndirect: true, replaced, graph });
  }
  if (withToolchain) addStandardLibrary(directives, graph);
  return graph.finish();
}

interface GoDirective {
  verb: string;
  words: string[];
  /** The text after `//`. */
  comment: string;
  line: number;
}

/** The lines of a go.mod file: `verb words`, or a block of them. Comments follow `//`. @throws LockFileError with the line */
function goDirectives(text: string): GoDirective[] {
  const directives: GoDirective[] = [];
  let block: string | null = null;
  for (const [index, written] of text.split(/\r?\n/).entries()) {
    const line = index + 1;
    const slashes = written.indexOf("//");
    const comment = slashes === -1 ? "" : written.slice(slashes + 2).trim();
    const words = wordsOf(slashes === -1 ? written : written.slice(0, slashes), line);
    const [verb = ""] = words;
    if (words.length === 0) continue;
    if (verb === ")" && block !== null) block = null;
    else if (block !== null) directives.push({ verb: block, words, comment, line });
    else if (words[1] === "(" || verb.endsWith("(")) block = verb.replace(/\($/, "");
    else directives.push({ verb, words: words.slice(1), comment, line });
  }
  if (block !== null) throw new LockFileError(`ends within the block "${block.slice(0, 60)}"`);
  if (directives.length === 0) throw new LockFileError("has no directive such as module");
  return directives;
}

/** Words may be in quotation marks or backquotes. */
function wordsOf(text: string, line: number): string[] {
  const words = text.match(/"[^"]*"|`[^`]*`|[^\s"`]+|["`]/g) ?? [];
  if (words.some((word) => word === '"' || word === "`"))
    throw new LockFileError(`line ${line}: has a quotation mark that is not closed`);
  return words.map((word) => (/^["`]/.test(word) ? word.slice(1, -1) : word));
}

interface Module {
  path: string;
  version: string;
}

/** `old [version] => new [version]`; without a version the replacement is a folder. */
function replacements(directives: GoDirective[]): Map<string, Module | null> {
  const replaced = new Map<string, Module | null>();
  for (const { words, line } of directives.filter(({ verb }) => verb === "replace")) {
    const arrow = words.indexOf("=>");
    const [path = "", version] = words.slice(arrow + 1);
    if (arrow < 1 || arrow > 2 || path === "")
      throw new LockFileError(`line ${line}: replaces nothing; "old => new version" is needed`);
    replaced.set(words.slice(0, arrow).join(" "), version === undefined ? null : { path, version });
  }
  return replaced;
}

function moduleOf({ words, line }: GoDirective): Module {
  const [path, version] = words;
  if (path !== undefined && version !== undefined && words.length === 2) return { path, version };
  throw new LockFileError(`line ${line}: is ${quoted(words.join(" "))}; a module with its version is needed`);
}

interface Context {
  isIndirect: boolean;
  /** By path, and by path and version; null: replaced by a folder. */
  replaced: ReadonlyMap<string, Module | null>;
  graph: LockGraphBuilder;
}

function addModule(module: Module, { isIndirect, replaced, graph }: Context): void {
  const replacement = replaced.get(`${module.path} ${module.version}`) ?? replaced.get(module.path);
  if (replacement === null) return graph.skip(module.path, "it is replaced by a folder");
  const { path, version } = replacement ?? module;
  const purl = graph.add({ ecosystem: "Go", name: path, version, indirect: isIndirect });
  if (!isIndirect) graph.need(null, purl);
}

/**
 * The toolchain's version, else that of the `go` line. A toolchain may have a suffix of its builder, as in `go1.21.3-acme`; `default` is the
 * one that runs. OSV calls the library `stdlib`: https://go.dev/doc/security/vuln/database
 */
function addStandardLibrary(directives: readonly GoDirective[], graph: LockGraphBuilder): void {
  const named = ["toolchain", "go"].flatMap((verb) => directives.filter((one) => one.verb === verb).map(({ words }) => words[0]));
  const [version = ""] = (named.find((word) => word !== undefined && word !== "default") ?? "").replace(/^go/, "").split("-", 1);
  if (!/^\d/.test(version)) return graph.skip("stdlib", "no line go or toolchain of the file has a version of Go");
  graph.need(null, graph.add({ ecosystem: "Go", name: "stdlib", version }));
}

function isBefore117(directives: GoDirective[]): boolean {
  const [, minor] = /^1\.(\d+)/.exec(directives.find(({ verb }) => verb === "go")?.words[0] ?? "1.16") ?? [];
  return minor !== undefined && Number(minor) < 17;
}

/** Modules whose code was loaded have a line without `/go.mod`; of several versions, the highest is built. */
function builtModules(sum: string): Module[] {
  const highest = new Map<string, string>();
  for (const line of sum.split(/\r?\n/)) {
    const [path = "", version = ""] = line.trim().split(/\s+/);
    if (path === "" || version === "" || version.endsWith("/go.mod")) continue;
    const known = highest.get(path);
    if (known === undefined || isHigher(version, known)) highest.set(path, version);
  }
  return [...highest].map(([path, version]) => ({ path, version }));
}

/** The go command never writes versions that cannot be compared. */
function isHigher(version: string, known: string): boolean {
  const [one, other] = [readVersion({ scheme: "Go", text: version }), readVersion({ scheme: "Go", text: known })];
  return one.known && (!other.known || compareVersions(one, other) > 0);
}
