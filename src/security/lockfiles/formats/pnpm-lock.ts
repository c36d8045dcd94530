/**
 * pnpm-lock.yaml, versions 5 to 9. Source: https://github.com/pnpm/spec/tree/master/lockfile
 *
 * Packages are keys whose format depends on the version: `/name/1.2.3_peers` in 5, `/name@1.2.3(peers)` in 6, `name@1.2.3(peers)` in 9.
 * Only packages from the registry count, not folders or addresses.
 */
import { fieldOf, isObject, objectOf, textOf, type JsonObject } from "../../sboms/json.ts";
import { LockFileError, LockGraphBuilder, quoted, type LockGraph, type LockScope } from "../lock-graph.ts";
import { parseLockYaml } from "../syntax.ts";

/** @throws LockFileError */
export function readPnpmLock(text: string): LockGraph {
  const documents = parseLockYaml(text);
  const graph = new LockGraphBuilder();
  // A project without dependencies has no document of its own.
  if (documents.length > 0 && documents.every(isConfiguration)) return graph.finish();
  const lock = documents.findLast((document) => !isConfiguration(document)) ?? {};
  const major = Number(/^(\d+)(?:\.\d+)?/.exec(String(fieldOf(lock, "lockfileVersion")))?.[1] ?? Number.NaN);
  if (!(major >= 5 && major <= 9)) {
    const given = JSON.stringify(fieldOf(lock, "lockfileVersion") ?? null).slice(0, 60);
    throw new LockFileError(`lockfileVersion: is ${given}; 5 to 9 are read`);
  }
  const packages = objectOf(lock, "packages") ?? {};
  const snapshots = major === 9 ? (objectOf(lock, "snapshots") ?? {}) : packages;
  const purls = new Map<string, string>();
  for (const [path, entry] of Object.entries(snapshots)) {
    const facts = factsOf({ path, entry: isObject(entry) ? entry : {}, packages, major });
    if (facts === null) graph.skip(path, "it is not a release of the registry");
    else purls.set(path, graph.add({ ecosystem: "npm", ...facts }));
  }
  const find = (name: string, reference: string) => firstKnown(pnpmPaths({ name, reference, major }), purls);
  for (const [path, entry] of Object.entries(snapshots)) {
    const from = purls.get(path);
    if (from !== undefined && isObject(entry)) addNeeds({ from, entry, find, graph });
  }
  for (const importer of importersOf(lock)) addNeeds({ from: null, entry: importer, find, graph });
  return graph.finish();
}

/** Since pnpm 11 a first document pins pnpm itself and its plug-ins, which are no part of the project. */
function isConfiguration(document: JsonObject): boolean {
  const root = objectOf(objectOf(document, "importers") ?? {}, ".");
  return root !== null && ["configDependencies", "packageManagerDependencies"].some((field) => objectOf(root, field) !== null);
}

interface Placed {
  path: string;
  entry: JsonObject;
  packages: JsonObject;
  major: number;
}

interface Facts {
  name: string;
  version: string;
  scope?: LockScope;
}

/** Entries from sources other than the registry have a name and a version too. */
function factsOf({ path, entry, packages, major }: Placed): Facts | null {
  const described = objectOf(packages, path.replace(/\(.*$/s, "")) ?? entry;
  const parsed = parsePnpmPath(path, major);
  const name = textOf(described, "name") ?? parsed?.name;
  const version = textOf(described, "version") ?? parsed?.version;
  if (name === undefined || version === undefined) return null;
  if (fieldOf(described, "dev") === true) return { name, version, scope: "excluded" };
  return fieldOf(described, "optional") === true ? { name, version, scope: "optional" } : { name, version };
}

/** @returns null for anything but a registry package, such as a folder or an address */
function parsePnpmPath(path: string, major: number): { name: string; version: string } | null {
  const bare = path.replace(/^\//, "").replace(/\(.*$/s, "");
  const at = major === 5 ? bare.lastIndexOf("/") : bare.indexOf("@", 1);
  if (at <= 0) return null;
  const name = bare.slice(0, at);
  const version = major === 5 ? bare.slice(at + 1).replace(/_.*$/s, "") : bare.slice(at + 1);
  return /^\d/.test(version) && /^(?:@[^/@]+\/)?[^/@]+$/.test(name) ? { name, version } : null;
}

function firstKnown(paths: string[], purls: ReadonlyMap<string, string>): string | undefined {
  return paths.map((path) => purls.get(path)).find((purl) => purl !== undefined);
}

/** Possible paths of a dependency: its reference is a path for aliases and other sources, otherwise a version. */
function pnpmPaths({ name, reference, major }: { name: string; reference: string; major: number }): string[] {
  if (reference.startsWith("link:")) return [];
  if (major === 5) return [`/${name}/${reference}`, reference];
  return major < 9 ? [`/${name}@${reference}`, reference] : [`${name}@${reference}`, reference];
}

interface Needing {
  from: string | null;
  entry: JsonObject;
  find(name: string, reference: string): string | undefined;
  graph: LockGraphBuilder;
}

const sections: [string, LockScope][] = [
  ["dependencies", "required"],
  ["optionalDependencies", "optional"],
  ["devDependencies", "excluded"],
];

function addNeeds({ from, entry, find, graph }: Needing): void {
  for (const [section, scope] of sections) {
    for (const [name, value] of Object.entries(objectOf(entry, section) ?? {})) {
      const reference = isObject(value) ? textOf(value, "version") : value;
      const to = typeof reference === "string" ? find(name, reference) : undefined;
      if (to !== undefined) graph.need(from, to, scope);
    }
  }
}

/** Without workspaces, the project itself is at the top level. */
function importersOf(lock: JsonObject): JsonObject[] {
  const importers = objectOf(lock, "importers");
  if (importers === null) return [lock];
  return Object.entries(importers).map(([folder, importer]) => {
    if (!isObject(importer)) throw new LockFileError(`importers[${quoted(folder)}]: is not a mapping`);
    return importer;
  });
}
