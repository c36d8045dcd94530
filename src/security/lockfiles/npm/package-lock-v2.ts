/** Versions 2 and 3: packages by their folders, `node_modules/a/node_modules/b`. */
import { lockFileFoldersMax } from "../../limits.ts";
import { fieldOf, isObject, objectOf, textOf, type JsonObject, type JsonValue } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { quoted, type LockGraphBuilder, type LockScope } from "../lock-graph.ts";

const installed = "node_modules/";

/** The project itself and its workspaces have no purl: their dependencies are the project's. */
type Purls = ReadonlyMap<string, string>;

/** @throws LockFileError with the entry */
export function addV2Packages(packages: JsonObject, graph: LockGraphBuilder): void {
  const purls = new Map<string, string>();
  for (const [place, entry] of Object.entries(packages)) {
    if (!isObject(entry)) throw new LockFileError(`packages[${quoted(place)}]: is no object`);
    if (place.split("/").length > lockFileFoldersMax)
      throw new LockFileError(`packages[${quoted(place)}]: lies more than ${lockFileFoldersMax} folders deep`);
    const purl = place.includes(installed) ? addPackage(place, entry, graph) : null;
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
function addPackage(place: string, entry: JsonObject, graph: LockGraphBuilder): string | null {
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
export function scopeOf(entry: JsonObject): LockScope {
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

interface Search {
  /** The folder of the dependent package. */
  from: string;
  name: string;
  packages: Record<string, JsonValue>;
  purls: Purls;
}

/** As Node.js finds modules: in the folder's own `node_modules`, then in those of each folder above. */
function findPath({ from, name, packages, purls }: Search): string {
  for (let folder = from; ;) {
    const place = folder === "" ? `${installed}${name}` : `${folder}/${installed}${name}`;
    if (purls.has(place) || Object.hasOwn(packages, place)) return place;
    if (folder === "") return "";
    const end = folder.lastIndexOf("/");
    folder = end === -1 ? "" : folder.slice(0, end);
  }
}
