/**
 * bun.lock, Bun's lock file since 1.2: JSON with trailing commas. Source: https://bun.com/docs/pm/lockfile and its reader,
 * src/install/lockfile/bun.lock.zig in oven-sh/bun
 *
 * Packages are keyed by their place: `a`, or `a/b` for the `b` that is installed within `a`. An entry begins with `name@version`, or with
 * `name@` and a folder or an address, which is no release of the registry. Dependencies are resolved as in Node.js: at the package's own
 * place, then at those above. The dependencies of all workspaces are the project's.
 */
import { lockFileFoldersMax } from "../../limits.ts";
import { fieldOf, isObject, objectOf, textsOf, type JsonObject, type JsonValue } from "../../sboms/json.ts";
import { LockFileError, LockGraphBuilder, quoted, type LockGraph, type LockScope } from "../lock-graph.ts";
import { parseLockJsonc } from "../syntax.ts";

/** @throws LockFileError with the entry */
export function readBunLock(text: string): LockGraph {
  const lock = parseLockJsonc(text);
  const version = fieldOf(lock, "lockfileVersion");
  if (version !== 0 && version !== 1 && version !== 2)
    throw new LockFileError(`lockfileVersion: is ${JSON.stringify(version ?? null).slice(0, 60)}; 0 to 2 are read`);
  const graph = new LockGraphBuilder();
  const read = Object.entries(objectOf(lock, "packages") ?? {}).map(([place, entry]) => entryOf(place, entry));
  const purls = new Map(read.map(({ place, ...entry }) => [place, addEntry(entry, graph)]));
  for (const { place, facts } of read) {
    const from = purls.get(place) ?? null;
    if (from !== null) addNeeds({ from, place: placeParts(place), facts, purls, graph });
  }
  for (const [folder, workspace] of Object.entries(objectOf(lock, "workspaces") ?? {})) {
    if (!isObject(workspace)) throw new LockFileError(`workspaces[${quoted(folder)}]: is not an object`);
    const name = fieldOf(workspace, "name");
    const place = folder === "" || typeof name !== "string" ? [] : [name];
    addNeeds({ from: null, place, facts: workspace, purls, graph });
  }
  return graph.finish();
}

interface Entry {
  /** `name@version`, or `name@` and a source. */
  resolved: string;
  /** Dependencies, and what else the package's manifest says. */
  facts: JsonObject;
}

function entryOf(place: string, entry: JsonValue): Entry & { place: string } {
  const [resolved, ...rest] = Array.isArray(entry) ? entry : [];
  if (typeof resolved !== "string" || resolved.indexOf("@", 1) === -1)
    throw new LockFileError(`packages[${quoted(place)}]: does not begin with "name@version"`);
  if (placeParts(place).length > lockFileFoldersMax)
    throw new LockFileError(`packages[${quoted(place)}]: is more than ${lockFileFoldersMax} packages deep`);
  return { place, resolved, facts: rest.find(isObject) ?? {} };
}

/** @returns null for a workspace, and for what is no release of the registry */
function addEntry({ resolved }: Entry, graph: LockGraphBuilder): string | null {
  const at = resolved.indexOf("@", 1);
  const [name, version] = [resolved.slice(0, at), resolved.slice(at + 1)];
  if (/^(?:workspace|root|link):/.test(version)) return null;
  if (/^\d/.test(version)) return graph.add({ ecosystem: "npm", name, version });
  graph.skip(name, `its version is ${quoted(version)}, not a release of the registry`);
  return null;
}

/** A scope and its name are one part: `a/@scope/b` is `@scope/b` within `a`. */
function placeParts(place: string): string[] {
  return place.match(/@[^/]*\/[^/]*|[^/]+/g) ?? [];
}

const sections: [string, LockScope][] = [
  ["dependencies", "required"],
  ["optionalDependencies", "optional"],
  ["peerDependencies", "required"],
  ["devDependencies", "excluded"],
];

interface Needing {
  from: string | null;
  /** The names above and of the package itself. */
  place: string[];
  facts: JsonObject;
  purls: ReadonlyMap<string, string | null>;
  graph: LockGraphBuilder;
}

/** An optional peer may be installed for another reason, which says nothing about this package. */
function addNeeds({ from, place, facts, purls, graph }: Needing): void {
  const optionalPeers = new Set(textsOf(facts, "optionalPeers"));
  for (const [section, scope] of sections) {
    for (const name of Object.keys(objectOf(facts, section) ?? {})) {
      if (section === "peerDependencies" && optionalPeers.has(name)) continue;
      const to = find(place, name, purls);
      if (to !== null && to !== from) graph.need(from, to, scope);
    }
  }
}

function find(place: readonly string[], name: string, purls: ReadonlyMap<string, string | null>): string | null {
  for (let depth = place.length; depth >= 0; depth--) {
    const found = purls.get([...place.slice(0, depth), name].join("/"));
    if (found !== undefined) return found;
  }
  return null;
}
