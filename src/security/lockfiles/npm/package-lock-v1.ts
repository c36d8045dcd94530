/** Version 1: packages nested like their installation. It does not mark direct dependencies. */
import { fieldOf, isObject, objectOf, textOf, type JsonObject } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { quoted, type LockGraphBuilder } from "../lock-graph.ts";
import { scopeOf } from "./package-lock-v2.ts";

/** The packages installed beside a package, and those above. */
interface Level {
  purls: Map<string, string>;
  above: Level | null;
}

/** @throws LockFileError with the entry */
export function addV1Packages(dependencies: JsonObject, graph: LockGraphBuilder): void {
  addLevel(dependencies, null, graph);
  graph.inferDirectDependencies();
}

/** @returns where nested packages look first */
function addLevel(dependencies: JsonObject, above: Level | null, graph: LockGraphBuilder): Level {
  const level: Level = { purls: new Map(), above };
  const entries = Object.entries(dependencies).map(([name, entry]): [string, JsonObject] => {
    if (!isObject(entry)) throw new LockFileError(`dependencies[${quoted(name)}]: is no object`);
    return [name, entry];
  });
  for (const [name, entry] of entries) {
    const purl = addPackage(name, entry, graph);
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

function find(name: string, from: Level): string | undefined {
  for (let level: Level | null = from; level !== null; level = level.above) {
    const purl = level.purls.get(name);
    if (purl !== undefined) return purl;
  }
  return undefined;
}

/** An alias `npm:name@1.2.3` contains the real package. */
function addPackage(name: string, entry: JsonObject, graph: LockGraphBuilder): string | null {
  const written = textOf(entry, "version");
  const [, realName = name, version = written] = /^npm:(@?[^@]+)@(.+)$/.exec(written ?? "") ?? [];
  if (version !== null && /^[\dv]/.test(version)) {
    return graph.add({ ecosystem: "npm", name: realName, version, scope: scopeOf(entry) });
  }
  const isBundled = fieldOf(entry, "bundled") === true;
  graph.skip(
    name,
    isBundled ? "it is bundled without a version" : `its version is ${quoted(version ?? "")}, no release of the registry`,
  );
  return null;
}
