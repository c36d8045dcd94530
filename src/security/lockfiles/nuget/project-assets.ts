/**
 * project.assets.json, version 3, which a restore writes to `obj`.
 * Source: NuGet's own reader, src/NuGet.Core/NuGet.ProjectModel/LockFile/LockFileFormat.cs in NuGet/NuGet.Client
 */
import { fieldOf, isObject, objectOf, textOf, type JsonObject, type JsonValue } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";
import { parseLockJson } from "../parse/json.ts";

/** @throws LockFileError with the entry */
export function readProjectAssets(text: string): LockGraph {
  const assets = parseLockJson(text);
  const version = fieldOf(assets, "version");
  if (version !== 3 && version !== 4) {
    throw new LockFileError(`version: is ${JSON.stringify(version ?? null).slice(0, 60)}; 3 and 4 are read`);
  }
  const graph = new LockGraphBuilder();
  const direct = directNames(assets);
  for (const [framework, libraries] of Object.entries(objectOf(assets, "targets") ?? {})) {
    if (!isObject(libraries)) throw new LockFileError(`targets[${quoted(framework)}]: is no object`);
    addTarget({ libraries, place: `targets[${quoted(framework)}]`, direct, graph });
  }
  return graph.finish();
}

interface Target {
  libraries: JsonObject;
  place: string;
  /** In lower case. */
  direct: ReadonlySet<string>;
  graph: LockGraphBuilder;
}

function addTarget({ libraries, place, direct, graph }: Target): void {
  const purls = new Map<string, string>();
  const read = Object.entries(libraries).map(([key, library]) => libraryOf(`${place}[${quoted(key)}]`, key, library));
  for (const { name, version, fields } of read) {
    if (textOf(fields, "type") !== "package") continue;
    const key = name.toLowerCase();
    const purl = graph.add({ ecosystem: "NuGet", name, version, indirect: !direct.has(key) });
    purls.set(key, purl);
    if (direct.has(key)) graph.need(null, purl);
  }
  for (const { name, fields } of read) {
    const from = purls.get(name.toLowerCase()) ?? null;
    for (const needed of Object.keys(objectOf(fields, "dependencies") ?? {})) {
      const to = purls.get(needed.toLowerCase());
      if (to !== undefined) graph.need(from, to);
    }
  }
}

/** `Name/1.2.3` with the type `package`, or `project` for another one of the repository. */
function libraryOf(place: string, key: string, fields: JsonValue) {
  const slash = key.indexOf("/");
  if (slash <= 0 || !isObject(fields)) throw new LockFileError(`${place}: is no library "name/version"`);
  return { name: key.slice(0, slash), version: key.slice(slash + 1), fields };
}

/** `autoReferenced` packages come from the SDK and are direct dependencies too. */
function directNames(assets: JsonObject): Set<string> {
  const frameworks = objectOf(objectOf(assets, "project") ?? {}, "frameworks") ?? {};
  const names = Object.values(frameworks).flatMap((framework) =>
    isObject(framework) ? Object.keys(objectOf(framework, "dependencies") ?? {}) : [],
  );
  return new Set(names.map((name) => name.toLowerCase()));
}
