/**
 * package-lock.json and npm-shrinkwrap.json, versions 1 to 3. Source: https://docs.npmjs.com/cli/configuring-npm/package-lock-json
 *
 * Versions 2 and 3 list packages by their folders, `node_modules/a/node_modules/b`. Dependencies are resolved as in Node.js: in the
 * folder's own `node_modules`, then in those above. Version 1 nests packages as they are installed and does not mark direct dependencies.
 * Version 2 contains both forms; the newer one is read, because it contains more.
 */
import { lockFileFoldersMax } from "../../limits.ts";
import { fieldOf, objectOf, isObject, textOf, type JsonObject, type JsonValue } from "../../sboms/json.ts";
import { LockFileError, LockGraphBuilder, type LockGraph, quoted, type LockScope } from "../lock-graph.ts";
import { parseLockJson } from "../syntax.ts";

/** @throws LockFileError */
export function readPackageLock(text: string): LockGraph {
  const lock = parseLockJson(text);
  const version = fieldOf(lock, "lockfileVersion");
  const graph = new LockGraphBuilder();
  if (version !== undefined && version !== 1 && version !== 2 && version !== 3) {
    throw new LockFileError(`lockfileVersion: is ${JSON.stringify(version).slice(0, 60)}; 1, 2 and 3 are read`);
  }
  const packages = objectOf(lock, "packages");
  // Version 2 contains both forms, one for old and one for new npm.
  if (packages !== null) addV2Packages(packages, graph);
  else if (version === 3) throw new LockFileError("packages: is missing");
  else addV1Packages(objectOf(lock, "dependencies") ?? {}, graph);
  return graph.finish();
}

const installed = "node_modules/";

/** @throws LockFileError with the entry */
function addV2Packages(packages: JsonObject, graph: LockGraphBuilder): void {
  const purls = new Map<string, string>();
  for (const [place, entry] of Object.entries(packages)) {
    if (!isObject(entry)) throw new LockFileError(`packages[${quoted(place)}]: is not an object`);
    if (place.split("/").length > lockFileFoldersMax)
      throw new LockFileError(`packages[${quoted(place)}]: is more than ${lockFileFoldersMax} folders deep`);
    const purl = place.includes(installed) ? addV2Package(place, entry, graph) : null;
    if (purl !== null) purls.set(place, purl);
  }
  for (const [place, entry] of Object.entries(packages)) {
    if (!isObject(entry) || fieldOf(entry, "link") === true) continue;
    const isOwn = !place.includes(installed);
    const from = isOwn ? null : (purls.get(place) ?? null);
    if (!isOwn && from === null) continue;
    for (const [name, scope] of neededBy(entry, isOwn)) {
      const to = purls.get(findPath({ from: place, name, packages, purls }));
      if (to !== undefined) graph.need(from, to, scope);
    }
  }
}

/** @returns null for a link to a folder of the repository, and for an entry without a version */
function addV2Package(place: string, entry: JsonObject, graph: LockGraphBuilder): string | null {
  if (fieldOf(entry, "link") === true) return null;
  const name = textOf(entry, "name") ?? place.slice(place.lastIndexOf(installed) + installed.length);
  const version = textOf(entry, "version");
  if (version === null) {
    graph.skip(name, "it has no version");
    return null;
  }
  return graph.add({ ecosystem: "npm", name, version, scope: scopeOf(entry) });
}

/** `devOptional`: needed for development, or by an optional package. */
function scopeOf(entry: JsonObject): LockScope {
  if (fieldOf(entry, "dev") === true) return "excluded";
  return fieldOf(entry, "optional") === true || fieldOf(entry, "devOptional") === true ? "optional" : "required";
}

function neededBy(entry: JsonObject, isOwn: boolean): [string, LockScope][] {
  const names = (field: string, scope: LockScope) =>
    Object.keys(objectOf(entry, field) ?? {}).map((name): [string, LockScope] => [name, scope]);
  return [
    ...names("dependencies", "required"),
    ...names("peerDependencies", "required"),
    ...names("optionalDependencies", "optional"),
    ...(isOwn ? names("devDependencies", "excluded") : []),
  ];
}

/** The project itself and its workspaces have no purl: their dependencies are the project's. */
type Purls = ReadonlyMap<string, string>;

interface Search {
  /** The folder of the dependent package. */
  from: string;
  name: string;
  packages: Record<string, JsonValue>;
  purls: Purls;
}

/** Resolves a name as Node.js does: in the folder's own `node_modules`, then in that of each folder above. */
function findPath({ from, name, packages, purls }: Search): string {
  for (let folder = from; ;) {
    const place = folder === "" ? `${installed}${name}` : `${folder}/${installed}${name}`;
    if (purls.has(place) || Object.hasOwn(packages, place)) return place;
    if (folder === "") return "";
    const end = folder.lastIndexOf("/");
    folder = end === -1 ? "" : folder.slice(0, end);
  }
}

/** @throws LockFileError with the entry */
function addV1Packages(dependencies: JsonObject, graph: LockGraphBuilder): void {
  addLevel(dependencies, null, graph);
  graph.inferDirectDependencies();
}

/** The packages in the same folder as a package, and those in the folders above. */
interface Level {
  purls: Map<string, string>;
  above: Level | null;
}

/** @returns the level in which nested packages are looked up first */
function addLevel(dependencies: JsonObject, above: Level | null, graph: LockGraphBuilder): Level {
  const level: Level = { purls: new Map(), above };
  const entries = Object.entries(dependencies).map(([name, entry]): [string, JsonObject] => {
    if (!isObject(entry)) throw new LockFileError(`dependencies[${quoted(name)}]: is not an object`);
    return [name, entry];
  });
  for (const [name, entry] of entries) {
    const purl = addV1Package(name, entry, graph);
    if (purl !== null) level.purls.set(name, purl);
  }
  for (const [name, entry] of entries) {
    const nested = objectOf(entry, "dependencies");
    const within = nested === null ? level : addLevel(nested, level, graph);
    const from = level.purls.get(name);
    if (from === undefined) continue;
    for (const needed of Object.keys(objectOf(entry, "requires") ?? {})) {
      const to = find(needed, within);
      if (to !== undefined) graph.need(from, to);
    }
  }
  return level;
}

/** An alias `npm:name@1.2.3` contains the real package. */
function addV1Package(name: string, entry: JsonObject, graph: LockGraphBuilder): string | null {
  const written = textOf(entry, "version");
  const [, realName = name, version = written] = /^npm:(@?[^@]+)@(.+)$/.exec(written ?? "") ?? [];
  if (version !== null && /^[\dv]/.test(version)) {
    return graph.add({ ecosystem: "npm", name: realName, version, scope: scopeOf(entry) });
  }
  const isBundled = fieldOf(entry, "bundled") === true;
  graph.skip(
    name,
    isBundled ? "it is bundled without a version" : `its version is ${quoted(version ?? "")}, not a release of the registry`,
  );
  return null;
}

function find(name: string, from: Level): string | undefined {
  for (let level: Level | null = from; level !== null; level = level.above) {
    const purl = level.purls.get(name);
    if (purl !== undefined) return purl;
  }
  return undefined;
}
