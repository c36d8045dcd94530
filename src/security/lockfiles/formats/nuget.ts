/**
 * NuGet's lock files: packages.lock.json, project.assets.json and packages.config. Each target framework has its own list; a package in
 * several lists counts once. Names are case-insensitive. Projects of the same repository are not packages: their dependencies are the
 * repository's.
 */
import { fieldOf, isObject, objectOf, textOf, type JsonObject, type JsonValue } from "../../sboms/json.ts";
import { LockFileError, LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";
import { parseLockJson, childrenOf, parseLockXml } from "../syntax.ts";

/**
 * packages.lock.json, versions 1 and 2. Source:
 * https://learn.microsoft.com/nuget/consume-packages/package-references-in-project-files#locking-dependencies
 * @throws LockFileError with the entry
 */
export function readNugetPackagesLock(text: string): LockGraph {
  const lock = parseLockJson(text);
  const version = fieldOf(lock, "version");
  if (version !== 1 && version !== 2) {
    throw new LockFileError(`version: is ${JSON.stringify(version ?? null).slice(0, 60)}; 1 and 2 are read`);
  }
  const graph = new LockGraphBuilder();
  for (const [framework, packages] of Object.entries(objectOf(lock, "dependencies") ?? {})) {
    if (!isObject(packages)) throw new LockFileError(`dependencies[${quoted(framework)}]: is not an object`);
    addFramework(packages, `dependencies[${quoted(framework)}]`, graph);
  }
  return graph.finish();
}

/**
 * project.assets.json, version 3, which a restore writes to `obj`. Source: NuGet's own reader,
 * src/NuGet.Core/NuGet.ProjectModel/LockFile/LockFileFormat.cs in NuGet/NuGet.Client
 * @throws LockFileError with the entry
 */
export function readProjectAssets(text: string): LockGraph {
  const assets = parseLockJson(text);
  const version = fieldOf(assets, "version");
  if (version !== 3 && version !== 4) {
    throw new LockFileError(`version: is ${JSON.stringify(version ?? null).slice(0, 60)}; 3 and 4 are read`);
  }
  const graph = new LockGraphBuilder();
  const direct = directNames(assets);
  for (const [framework, libraries] of Object.entries(objectOf(assets, "targets") ?? {})) {
    if (!isObject(libraries)) throw new LockFileError(`targets[${quoted(framework)}]: is not an object`);
    addTarget({ libraries, place: `targets[${quoted(framework)}]`, direct, graph });
  }
  return graph.finish();
}

/**
 * packages.config: all packages in one list that does not mark direct ones. Source:
 * https://learn.microsoft.com/nuget/reference/packages-config
 * @throws LockFileError with the entry
 */
export function readPackagesConfig(text: string): LockGraph {
  const root = parseLockXml(text);
  if (root.name !== "packages") throw new LockFileError(`<${root.name.slice(0, 60)}>: is its root element; <packages> is needed`);
  const graph = new LockGraphBuilder();
  for (const [index, { attributes }] of childrenOf(root, "package").entries()) {
    const name = attributes.get("id");
    const version = attributes.get("version");
    if (!name || !version) throw new LockFileError(`<package> ${index + 1}: has no id or no version`);
    const isForDevelopment = attributes.get("developmentDependency")?.toLowerCase() === "true";
    graph.add({ ecosystem: "NuGet", name, version, scope: isForDevelopment ? "excluded" : "required" });
  }
  return graph.finish();
}

function addFramework(packages: JsonObject, place: string, graph: LockGraphBuilder): void {
  const purls = new Map<string, string>();
  const entries = Object.entries(packages).map(([name, entry]): [string, JsonObject] => {
    if (!isObject(entry)) throw new LockFileError(`${place}[${quoted(name)}]: is not an object`);
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

/** `autoReferenced` packages come from the SDK and are direct dependencies too. */
function directNames(assets: JsonObject): Set<string> {
  const frameworks = objectOf(objectOf(assets, "project") ?? {}, "frameworks") ?? {};
  const names = Object.values(frameworks).flatMap((framework) =>
    isObject(framework) ? Object.keys(objectOf(framework, "dependencies") ?? {}) : [],
  );
  return new Set(names.map((name) => name.toLowerCase()));
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

/** `Name/1.2.3` with the type `package`, or `project` for another project of the repository. */
function libraryOf(place: string, key: string, fields: JsonValue) {
  const slash = key.indexOf("/");
  if (slash <= 0 || !isObject(fields)) throw new LockFileError(`${place}: is not a library "name/version"`);
  return { name: key.slice(0, slash), version: key.slice(slash + 1), fields };
}
