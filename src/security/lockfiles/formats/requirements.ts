/**
 * The requirement files of Python: requirements.txt and its like, which include one another. Sources:
 * https://pip.pypa.io/en/stable/reference/requirements-file-format/ and
 * https://packaging.python.org/en/latest/specifications/dependency-specifiers/
 *
 * Only exact pins are packages, and each stands under the file that has it: a file behind `-r` is read by itself, once, so files that
 * include one another in a circle do no harm. The constraints behind `-c` install nothing; they pin what the file, and each file that it
 * includes, requires without a version. Whatever is not among the files read, and what `-e` installs, is reported as not pinned.
 */
import { posix } from "node:path";
import { requirementConstraintsMax, requirementIncludesMax } from "../../limits.ts";
import { packageKey } from "../../versions/ecosystem.ts";
import { LockFileError, LockGraphBuilder, type LockGraph, type LockScope } from "../lock-graph.ts";
import { LockedProjects, requirementName } from "./pypi.ts";

interface Files {
  /** The paths that are requirement files by their names. */
  roots: readonly string[];
  /** null if the file is not among those read. @throws LockFileError for one that is broken */
  textOf(path: string): string | null;
}

/** The requirement files of a repository. Each is parsed once, and only if it is needed. */
export class RequirementFiles {
  readonly #files: Files;
  readonly #parsed = new Map<string, ParsedFile | LockFileError | null>();
  readonly #pins = new Map<string, ReadonlyMap<string, string[]>>();
  #constraints: ReadonlyMap<string, ReadonlySet<string>> | null = null;

  constructor(files: Files) {
    this.#files = files;
  }

  /** Whether a file is included by `-r`, so that it is read whatever its name. */
  isIncluded(path: string): boolean {
    return this.#files.roots.length > 0 && this.#constraintsByFile().has(path);
  }

  /** null if the file is not among those read. @throws LockFileError */
  fileAt(path: string): ParsedFile | null {
    const parsed = this.#parse(path);
    if (parsed instanceof LockFileError) throw parsed;
    return parsed;
  }

  /** The exact versions that constraints give to what a file requires. @throws LockFileError for too many files of constraints */
  versionsOf({ path, name }: { path: string; name: string }): string[] {
    const files = this.#constraintsByFile().get(path) ?? new Set();
    if (files.size > requirementConstraintsMax)
      throw new LockFileError(`has more than ${requirementConstraintsMax} files of constraints`);
    const key = packageKey({ ecosystem: "PyPI", name });
    return [...new Set([...files].flatMap((file) => this.#pinsOf(file).get(key) ?? []))];
  }

  #parse(path: string): ParsedFile | LockFileError | null {
    const known = this.#parsed.get(path);
    if (known !== undefined) return known;
    const parsed = this.#parseNow(path);
    this.#parsed.set(path, parsed);
    return parsed;
  }

  #parseNow(path: string): ParsedFile | LockFileError | null {
    try {
      const text = this.#files.textOf(path);
      return text === null ? null : parsedFile(text, path);
    } catch (error) {
      if (error instanceof LockFileError) return error;
      throw error;
    }
  }

  #includesOf(path: string): Include[] {
    const parsed = this.#parse(path);
    return parsed === null || parsed instanceof LockFileError ? [] : parsed.includes;
  }

  /**
   * By each file that is read: the constraints that apply to it, which are its own and those of the files that include it. The sets only
   * grow, up to one more than allowed, so circles end.
   */
  #constraintsByFile(): ReadonlyMap<string, ReadonlySet<string>> {
    if (this.#constraints !== null) return this.#constraints;
    const byFile = new Map<string, Set<string>>();
    this.#constraints = byFile;
    const next = [...this.#files.roots];
    for (const path of next) byFile.set(path, new Set());
    for (let path = next.pop(); path !== undefined; path = next.pop()) {
      const own = byFile.get(path) ?? new Set();
      for (const include of this.#includesOf(path)) if (include.kind === "-c") this.#addConstraints(include, own);
      for (const { kind, path: included } of this.#includesOf(path)) {
        if (kind !== "-r" || included === null || this.#parse(included) === null) continue;
        const known = byFile.get(included);
        const target = known ?? new Set();
        byFile.set(included, target);
        const before = target.size;
        for (const file of own) if (target.size <= requirementConstraintsMax) target.add(file);
        if (known === undefined || target.size > before) next.push(included);
      }
    }
    return byFile;
  }

  /** A file of constraints may include others, which then constrain too. */
  #addConstraints({ path }: Include, into: Set<string>): void {
    const next = [path];
    for (let file = next.pop(); file !== undefined; file = next.pop()) {
      if (file === null || into.has(file) || into.size > requirementConstraintsMax) continue;
      into.add(file);
      next.push(...this.#includesOf(file).map((include) => include.path));
    }
  }

  #pinsOf(path: string): ReadonlyMap<string, string[]> {
    const known = this.#pins.get(path);
    if (known !== undefined) return known;
    const pins = new Map<string, string[]>();
    this.#pins.set(path, pins);
    const parsed = this.#parse(path);
    if (parsed === null || parsed instanceof LockFileError) return pins;
    for (const { name, version } of parsed.requirements) {
      if (name === null || version === null) continue;
      const key = packageKey({ ecosystem: "PyPI", name });
      pins.set(key, [...(pins.get(key) ?? []).slice(0, pinsMax - 1), version]);
    }
    return pins;
  }
}

/** Versions of one package in a file of constraints: one for each Python and platform. */
const pinsMax = 8;

/** @throws LockFileError */
export function readRequirements(path: string, files: RequirementFiles): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const { requirements, includes, editable } = files.fileAt(path) ?? { requirements: [], includes: [], editable: [] };
  const scope = scopeOf(path);
  const pinned = requirements.flatMap(({ text, name, version, via }) => {
    const constrained = name !== null && version === null && !isDirect(text, name);
    const versions = constrained ? files.versionsOf({ path, name }) : version === null ? [] : [version];
    if (name === null || versions.length === 0) {
      graph.skip(name ?? text, name === null ? "it is not a requirement by name" : "it is not pinned to an exact version");
      return [];
    }
    return versions.map((one) => {
      const purl = graph.add({ ecosystem: "PyPI", name, version: one, scope });
      index.add(name, { version: one, purl });
      return { purl, via };
    });
  });
  for (const { purl, via } of pinned) {
    const needing = via.flatMap((name) => (name.startsWith("-") ? [] : index.find(name)));
    for (const from of needing) if (from !== purl) graph.need(from, purl);
    if (needing.length < via.length || via.length === 0) graph.need(null, purl);
  }
  for (const include of includes) {
    const reason = refusalOf(include, files);
    if (reason !== null) graph.skip(`${include.kind} ${include.written}`, reason);
  }
  for (const written of editable) graph.skip(`-e ${written}`, "it is installed from a folder or an address, without a version");
  return graph.finish();
}

interface ParsedFile {
  requirements: Requirement[];
  includes: Include[];
  /** What `-e` installs. */
  editable: string[];
}

interface Requirement {
  text: string;
  name: string | null;
  /** null if it is not an exact pin. */
  version: string | null;
  /** Names in its comments: packages, or files after `-r`. */
  via: string[];
}

interface Include {
  kind: "-r" | "-c";
  written: string;
  /** Within the repository; null for an address and for a path that leaves it. */
  path: string | null;
}

/** Joins lines that a backslash continues. @throws LockFileError */
function parsedFile(text: string, path: string): ParsedFile {
  const file: ParsedFile = { requirements: [], includes: [], editable: [] };
  let isVia = false;
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const { requirement, comment } = partedAtComment(line);
    if (requirement !== "") {
      addLine(requirement, path, file);
      isVia = false;
    }
    const named = /^via\b/.test(comment ?? "") ? comment?.slice("via".length).trim() : undefined;
    isVia = named !== undefined || (isVia && comment !== null);
    const names = (named ?? (isVia ? comment : "") ?? "").split(",").map((name) => name.trim());
    for (const name of names) if (name !== "") file.requirements.at(-1)?.via.push(name);
  }
  return file;
}

const options = new Map<string, "-r" | "-c" | "-e">([
  ["-r", "-r"],
  ["--requirement", "-r"],
  ["-c", "-c"],
  ["--constraint", "-c"],
  ["-e", "-e"],
  ["--editable", "-e"],
]);

/** Options such as `--index-url` name no packages. */
function addLine(line: string, path: string, { requirements, includes, editable }: ParsedFile): void {
  if (!line.startsWith("-")) {
    const name = requirementName(line);
    const version = name === null ? null : exactVersion(line.slice(line.indexOf(name) + name.length));
    requirements.push({ text: line, name, version, via: [] });
    return;
  }
  const [option = ""] = /^(?:-[rce]|--[a-z-]+)/.exec(line) ?? [];
  const kind = options.get(option);
  const written = line
    .slice(option.length)
    .replace(/^[\s=]+/, "")
    .replaceAll(/^["']|["']$/g, "");
  if (kind === undefined || written === "") return;
  if (kind === "-e") editable.push(written);
  else if (includes.push({ kind, written, path: includedPath(path, written) }) > requirementIncludesMax)
    throw new LockFileError(`includes more than ${requirementIncludesMax} files`);
}

/** A path is relative to the file that includes it. */
function includedPath(from: string, written: string): string | null {
  if (/^[a-z][a-z+]+:/i.test(written)) return null;
  const path = posix.normalize(posix.join(posix.dirname(from), written.replaceAll("\\", "/")));
  return path.startsWith("..") || written.startsWith("/") ? null : path;
}

function refusalOf({ written, path }: Include, files: RequirementFiles): string | null {
  if (path === null)
    return /^[a-z][a-z+]+:/i.test(written) ? "it is an address, and none is fetched" : "it is outside of the repository";
  try {
    return files.fileAt(path) === null ? "the file is not among those that are read" : null;
  } catch (error) {
    if (!(error instanceof LockFileError)) throw error;
    return `the file ${error.message}`;
  }
}

/** From the names of the file and its folders. */
function scopeOf(path: string): LockScope | null {
  return /(?:^|[-_./])(?:dev|develop|development|tests?|testing)(?=[-_./])/i.test(path) ? "excluded" : null;
}

/** `name @ address`, which constraints do not pin. */
function isDirect(text: string, name: string): boolean {
  return /^\s*(?:\[[^\]]*\]\s*)?@/.test(text.slice(text.indexOf(name) + name.length));
}

/** A comment begins the line or follows whitespace; null if there is none. */
function partedAtComment(line: string): { requirement: string; comment: string | null } {
  const at = /(?:^|\s)#/.exec(line)?.index ?? -1;
  if (at === -1) return { requirement: line.trim(), comment: null };
  return { requirement: line.slice(0, at).trim(), comment: line.slice(line.indexOf("#", at) + 1).trim() };
}

/**
 * `==1.2.3` after an optional extra, before markers and options. `==1.*` and several clauses are not exact pins. Adjacent parts never match
 * the same spaces; otherwise the expression would try every way to split a line of spaces.
 */
const exactPin = /^\s*(?:\[[^\]]*\]\s*)?(?:\(\s*)?={2,3}\s*([^\s,;)*]+)(?:\s*\))?(?:\s*(?:;|$)|\s+--?\w)/;

function exactVersion(rest: string): string | null {
  return exactPin.exec(rest)?.[1] ?? null;
}
