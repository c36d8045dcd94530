/**
 * poetry.lock of Poetry 1 and 2. It does not mark direct dependencies.
 * Source: https://python-poetry.org/docs/basic-usage/#installing-with-poetrylock and its reader, poetry/packages/locker.py
 */
import { fieldOf, objectOf, textOf, textsOf, type JsonObject } from "../../sboms/json/value.ts";
import { LockGraphBuilder, type LockGraph, type LockScope } from "../lock-graph.ts";
import { lockEntries } from "../parse/lock-entries.ts";
import { LockedProjects } from "./locked-projects.ts";

/** @throws LockFileError */
export function readPoetryLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const read = lockEntries(text).entries.map(({ name, version, fields }) => {
    const isFolder = textOf(objectOf(fields, "source") ?? {}, "type") === "directory";
    if (version === null) graph.skip(name, "it has no version");
    const purl = isFolder || version === null ? null : graph.add({ ecosystem: "PyPI", name, version, scope: scopeOf(fields) });
    index.add(name, { version, purl });
    return { fields, purl, isFolder };
  });
  for (const { fields, purl, isFolder } of read) {
    if (purl === null && !isFolder) continue;
    for (const name of Object.keys(objectOf(fields, "dependencies") ?? {})) {
      for (const to of index.find(name)) graph.need(purl, to);
    }
  }
  graph.inferDirectDependencies();
  return graph.finish();
}

/** Poetry 1 writes a category, Poetry 2 groups, versions between them neither. */
function scopeOf(fields: JsonObject): LockScope | null {
  const groups = textsOf(fields, "groups");
  const category = textOf(fields, "category");
  if (category === "dev" || (groups.length > 0 && !groups.includes("main"))) return "excluded";
  if (fieldOf(fields, "optional") === true) return "optional";
  return groups.length > 0 || category !== null ? "required" : null;
}
