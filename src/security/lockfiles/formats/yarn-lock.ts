/**
 * yarn.lock. Yarn 1 writes its own format, blocks of `name@range, name@range:` with indented fields; since Yarn 2 the file is YAML, keyed
 * by descriptors such as `lodash@npm:^4.17.0`. Neither marks development dependencies, and Yarn 1 does not mark direct ones.
 */
import { isObject, objectOf, textOf, type JsonObject } from "../../sboms/json.ts";
import { type LockGraph, LockFileError, LockGraphBuilder, quoted } from "../lock-graph.ts";
import { parseLockYaml } from "../syntax.ts";

/** @throws LockFileError */
export function readYarnLock(text: string): LockGraph {
  return /^__metadata:/m.test(text) ? readYarnBerryLock(text) : readYarnClassicLock(text);
}

/**
 * Source: https://classic.yarnpkg.com/lang/en/docs/yarn-lock/ and the format's own reader, packages/lockfile in yarnpkg/yarn
 * @throws LockFileError with the line
 */
export function readYarnClassicLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const purls = new Map<string, string>();
  const blocks = blocksOf(text);
  for (const { descriptors, version } of blocks) {
    const name = packageNameOf(descriptors[0] ?? "");
    if (version === null) graph.skip(name, "it has no version");
    else for (const descriptor of descriptors) purls.set(descriptor, graph.add({ ecosystem: "npm", name, version }));
  }
  for (const { descriptors, needs } of blocks) {
    const from = purls.get(descriptors[0] ?? "");
    const targets = needs.flatMap((need) => purls.get(need) ?? []);
    if (from !== undefined) for (const to of targets) graph.need(from, to);
  }
  graph.inferDirectDependencies();
  return graph.finish();
}

interface Entry {
  fields: JsonObject;
  /** null for a workspace, or another folder of the repository. */
  purl: string | null;
}

/**
 * Source: https://yarnpkg.com/configuration/manifest and https://yarnpkg.com/advanced/lexicon (descriptor, locator, resolution)
 * @throws LockFileError
 */
function readYarnBerryLock(text: string): LockGraph {
  const [lock = {}] = parseLockYaml(text);
  const graph = new LockGraphBuilder();
  const byDescriptor = new Map<string, Entry>();
  for (const [key, fields] of Object.entries(lock)) {
    if (key === "__metadata") continue;
    if (!isObject(fields)) throw new LockFileError(`${quoted(key)}: is not a mapping`);
    const entry = { fields, purl: purlOf(key, fields, graph) };
    for (const descriptor of key.split(", ")) byDescriptor.set(descriptor, entry);
  }
  for (const { fields, purl } of new Set(byDescriptor.values())) {
    for (const descriptors of neededBy(fields)) {
      const target = descriptors.map((descriptor) => byDescriptor.get(descriptor)).find((entry) => entry !== undefined);
      const to = target?.purl ?? null;
      if (to !== null && to !== purl) graph.need(purl, to);
    }
  }
  return graph.finish();
}

/** `linkType: soft` is a folder of the repository. A patch, `name@patch:name@npm%3A1.2.3#…`, keeps the name and the version. */
function purlOf(key: string, fields: JsonObject, graph: LockGraphBuilder): string | null {
  const resolution = textOf(fields, "resolution");
  const version = textOf(fields, "version");
  if (resolution === null || version === null) throw new LockFileError(`${quoted(key)}: has no resolution or no version`);
  if (textOf(fields, "linkType") === "soft" || version === "0.0.0-use.local") return null;
  const at = resolution.indexOf("@", 1);
  if (at === -1) throw new LockFileError(`${quoted(key)}: has the resolution ${quoted(resolution)}, which names no source`);
  return graph.add({ ecosystem: "npm", name: resolution.slice(0, at), version });
}

/** The spellings of a descriptor: before Yarn 4, only the key contained the registry's protocol. */
function neededBy(fields: JsonObject): string[][] {
  const needed = Object.entries(objectOf(fields, "dependencies") ?? {});
  return needed.map(([name, range]) => [`${name}@${String(range)}`, `${name}@npm:${String(range)}`]);
}

interface Block {
  descriptors: string[];
  version: string | null;
  /** Descriptors: `name@range`. */
  needs: string[];
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let block: Block | null = null;
  let section = "";
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue;
    const indent = line.length - line.trimStart().length;
    const words = wordsOf(line.trim(), index + 1);
    if (indent === 0) {
      block = { descriptors: descriptorsOf(words, index + 1), version: null, needs: [] };
      blocks.push(block);
    } else if (block === null) {
      throw new LockFileError(`line ${index + 1}: is outside of any block`);
    } else if (indent === 2) {
      const [key = "", value = null] = words;
      section = key;
      if (key === "version") block.version = value;
    } else if (section === "dependencies:" || section === "optionalDependencies:") {
      block.needs.push(`${words[0] ?? ""}@${words[1] ?? ""}`);
    }
  }
  return blocks;
}

/** Words are separated by whitespace; quoted ones are JSON strings. A comma or colon after a quoted word is part of it. */
function wordsOf(line: string, number: number): string[] {
  // An unclosed quotation mark takes the rest of the line; otherwise each later mark would be tried up to the line's end.
  const words: string[] = line.match(/"[^"\\]*(?:\\[^][^"\\]*)*(?:"[,:]?|\\?$)|[^\s"]+/g) ?? [];
  return words.map((word) => unquoted(word, number));
}

function unquoted(word: string, number: number): string {
  if (!word.startsWith('"')) return word;
  const [, text, mark = ""] = /^("[^"\\]*(?:\\[^][^"\\]*)*")([,:]?)$/.exec(word) ?? [];
  if (text === undefined) throw new LockFileError(`line ${number}: has a quotation mark that is not closed`);
  try {
    return `${String(JSON.parse(text))}${mark}`;
  } catch {
    throw new LockFileError(`line ${number}: has a quoted word that cannot be read`);
  }
}

function descriptorsOf(words: string[], line: number): string[] {
  const descriptors = words.map((word) => word.replace(/[,:]$/, ""));
  const faulty = descriptors.find((descriptor) => descriptor.indexOf("@", 1) === -1);
  if (faulty === undefined && words.at(-1)?.endsWith(":") === true) return descriptors;
  throw new LockFileError(`line ${line}: is ${quoted(words.join(" "))} where a block begins; "name@range:" is needed`);
}

/** An alias `as@npm:name@range` contains the real package. */
function packageNameOf(descriptor: string): string {
  const at = descriptor.indexOf("@", 1);
  const range = descriptor.slice(at + 1);
  const behind = range.startsWith("npm:") ? range.slice(4) : "";
  const end = behind.indexOf("@", 1);
  return end === -1 ? descriptor.slice(0, at) : behind.slice(0, end);
}
