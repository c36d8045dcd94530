/**
 * uv.lock.
 * Source: https://docs.astral.sh/uv/concepts/projects/layout/#the-lockfile and its reader, crates/uv-resolver/src/lock in astral-sh/uv
 */
import { fieldOf, isObject, objectOf, objectsOf, textOf, type JsonObject, type JsonValue } from "../../sboms/json/value.ts";
import { LockGraphBuilder, type LockGraph, type LockScope } from "../lock-graph.ts";
import { lockEntries } from "../parse/lock-entries.ts";
import { LockedProjects } from "./locked-projects.ts";

/** @throws LockFileError */
export function readUvLock(text: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const read = lockEntries(text).entries.map(({ name, version, fields }) => {
    const isOwn = isFolder(objectOf(fields, "source") ?? {});
    if (version === null && !isOwn) graph.skip(name, "it has no version");
    const purl = isOwn || version === null ? null : graph.add({ ecosystem: "PyPI", name, version });
    index.add(name, { version, purl });
    return { fields, purl, isOwn };
  });
  for (const { fields, purl, isOwn } of read) {
    if (purl === null && !isOwn) continue;
    for (const { dependency, scope } of neededBy(fields)) {
      const name = textOf(dependency, "name") ?? "";
      for (const to of index.find(name, textOf(dependency, "version"))) graph.need(purl, to, scope);
    }
  }
  return graph.finish();
}

/** The project itself, its workspace's members, and other folders. */
function isFolder(source: JsonObject): boolean {
  return ["editable", "virtual", "directory"].some((kind) => fieldOf(source, kind) !== undefined);
}

interface Need {
  dependency: JsonObject;
  scope: LockScope;
}

function neededBy(fields: JsonObject): Need[] {
  return [
    ...objectsOf(fields, "dependencies").map((dependency): Need => ({ dependency, scope: "required" })),
    ...listsOf(fieldOf(fields, "optional-dependencies")).map((dependency): Need => ({ dependency, scope: "optional" })),
    ...listsOf(fieldOf(fields, "dev-dependencies")).map((dependency): Need => ({ dependency, scope: "excluded" })),
  ];
}

/** All lists of a table, by the names of extras or groups. */
function listsOf(table: JsonValue | undefined): JsonObject[] {
  return isObject(table) ? Object.keys(table).flatMap((key) => objectsOf(table, key)) : [];
}
