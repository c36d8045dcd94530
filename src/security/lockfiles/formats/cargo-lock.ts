/**
 * Cargo.lock, versions 1 to 4. Crates without a source belong to the repository. Development dependencies are not marked.
 * Source: https://doc.rust-lang.org/cargo/guide/cargo-toml-vs-cargo-lock.html and its reader, src/cargo/core/resolver/encode.rs
 */
import { textOf, textsOf } from "../../sboms/json.ts";
import { LockFileError, LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";
import { lockEntries, type LockEntry } from "../syntax.ts";

/** By name, then by version; null for a crate of the repository. */
type Crates = Map<string, Map<string, string | null>>;

/** @throws LockFileError */
export function readCargoLock(text: string): LockGraph {
  const { entries } = lockEntries(text);
  const graph = new LockGraphBuilder();
  const crates: Crates = new Map();
  for (const entry of entries) {
    const versions = crates.get(entry.name) ?? new Map<string, string | null>();
    crates.set(entry.name, versions.set(versionOf(entry), isOwn(entry) ? null : addCrate(entry, graph)));
  }
  for (const entry of entries) {
    const from = crates.get(entry.name)?.get(versionOf(entry)) ?? null;
    for (const needed of textsOf(entry.fields, "dependencies")) {
      const to = find(needed, crates);
      if (to !== null) graph.need(from, to);
    }
  }
  return graph.finish();
}

function versionOf({ name, version }: LockEntry): string {
  if (version === null) throw new LockFileError(`package ${quoted(name)}: has no version`);
  return version;
}

function isOwn({ fields }: LockEntry): boolean {
  return textOf(fields, "source") === null;
}

function addCrate(entry: LockEntry, graph: LockGraphBuilder): string {
  return graph.add({ ecosystem: "crates.io", name: entry.name, version: versionOf(entry) });
}

/** `name`, or `name version` or `name version (source)` if there are several. */
function find(needed: string, crates: Crates): string | null {
  const [name = "", version] = needed.split(" ", 2);
  const versions = crates.get(name);
  if (version !== undefined) return versions?.get(version) ?? null;
  const [purl = null] = versions?.values() ?? [];
  return purl;
}
