/**
 * pdm.lock. It does not mark direct dependencies.
 * Source: https://pdm-project.org/latest/usage/lockfile/ and its reader, src/pdm/formats and src/pdm/models/repositories in
 * pdm-project/pdm
 */
import { fieldOf, textOf, textsOf, type JsonObject } from "../../sboms/json/value.ts";
import { LockGraphBuilder, type LockGraph, type LockScope } from "../lock-graph.ts";
import { lockEntries } from "../parse/lock-entries.ts";
import { LockedProjects } from "./locked-projects.ts";
import { requirementName } from "./project-name.ts";

/** @throws LockFileError */
export function readPdmLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const read = lockEntries(text).entries.map(({ name, version, fields }) => {
    const isOwn = fieldOf(fields, "editable") === true || textOf(fields, "path") !== null;
    if (version === null && !isOwn) graph.skip(name, "it has no version");
    const purl = isOwn || version === null ? null : graph.add({ ecosystem: "PyPI", name, version, scope: scopeOf(fields) });
    index.add(name, { version, purl });
    return { name, fields, purl, isOwn };
  });
  for (const { name, fields, purl, isOwn } of read) {
    if (purl === null && !isOwn) continue;
    for (const requirement of textsOf(fields, "dependencies")) {
      const needed = requirementName(requirement);
      // A package with extras has a separate entry, which needs the one without.
      if (needed !== null && needed !== name) for (const to of index.find(needed)) graph.need(purl, to);
    }
  }
  graph.inferDirectDependencies();
  return graph.finish();
}

/** Packages of the group `default` are needed at run time. */
function scopeOf(fields: JsonObject): LockScope | null {
  const groups = textsOf(fields, "groups");
  if (groups.length === 0) return null;
  return groups.includes("default") ? "required" : "excluded";
}
