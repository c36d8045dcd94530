/**
 * packages.lock.json, versions 1 and 2.
 * Source: https://learn.microsoft.com/nuget/consume-packages/package-references-in-project-files#locking-dependencies
 */
import { fieldOf, isObject, objectOf, textOf, type JsonObject } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";
import { parseLockJson } from "../parse/json.ts";

/** @throws LockFileError with the entry */
export function readNugetPackagesLock(text: string): LockGraph {
  const lock = parseLockJson(text);
  const version = fieldOf(lock, "version");
  if (version !== 1 && version !== 2) {
    throw new LockFileError(`version: is ${JSON.stringify(version ?? null).slice(0, 60)}; 1 and 2 are read`);
  }
  const graph = new LockGraphBuilder();
  for (const [framework, packages] of Object.entries(objectOf(lock, "dependencies") ?? {})) {
    if (!isObject(packages)) throw new LockFileError(`dependencies[${quoted(framework)}]: is no object`);
    addFramework(packages, `dependencies[${quoted(framework)}]`, graph);
  }
  return graph.finish();
}

function addFramework(packages: JsonObject, place: string, graph: LockGraphBuilder): void {
  const purls = new Map<string, string>();
  const entries = Object.entries(packages).map(([name, entry]): [string, JsonObject] => {
    if (!isObject(entry)) throw new LockFileError(`${place}[${quoted(name)}]: is no object`);
    return [name, entry];
  });
  for (const [name, entry] of entries) {
    const version = textOf(entry, "resolved");
    if (isProject(entry)) continue;
    if (version === null) throw new LockFileError(`${place}[${quoted(name)}].resolved: is missing`);
    const isDirect = textOf(entry, "type") === "Direct";
    const purl = graph.add({ ecosystem: "NuGet", name, version, indirect: !isDirect });
    purls.set(name.toLowerCase(), purl);
    if (isDirect) graph.need(null, purl);
  }
  for (const [name, entry] of entries) {
    const from = isProject(entry) ? null : (purls.get(name.toLowerCase()) ?? null);
    for (const needed of Object.keys(objectOf(entry, "dependencies") ?? {})) {
      const to = purls.get(needed.toLowerCase());
      if (to !== undefined) graph.need(from, to);
    }
  }
}

/** Another project of the same repository: its dependencies are the repository's. */
function isProject(entry: JsonObject): boolean {
  return textOf(entry, "type") === "Project";
}
