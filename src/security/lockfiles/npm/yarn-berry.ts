/**
 * yarn.lock since Yarn 2: YAML, by descriptors such as `lodash@npm:^4.17.0`. Development dependencies of a workspace are not
 * marked.
 * Source: https://yarnpkg.com/configuration/manifest and https://yarnpkg.com/advanced/lexicon (descriptor, locator, resolution)
 */
import { isObject, objectOf, textOf, type JsonObject } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, quoted, type LockGraph } from "../lock-graph.ts";
import { parseLockYaml } from "../parse/yaml.ts";

interface Entry {
  fields: JsonObject;
  /** null for a workspace, or another folder of the repository. */
  purl: string | null;
}

/** @throws LockFileError */
export function readYarnBerryLock(text: string): LockGraph {
  const [lock = {}] = parseLockYaml(text);
  const graph = new LockGraphBuilder();
  const byDescriptor = new Map<string, Entry>();
  for (const [key, fields] of Object.entries(lock)) {
    if (key === "__metadata") continue;
    if (!isObject(fields)) throw new LockFileError(`${quoted(key)}: is no mapping`);
    const entry = { fields, purl: purlOf(key, fields, graph) };
    for (const descriptor of key.split(", ")) byDescriptor.set(descriptor, entry);
  }
  for (const { fields, purl } of new Set(byDescriptor.values())) {
    for (const descriptors of neededBy(fields)) {
      const target = descriptors.map((descriptor) => byDescriptor.get(descriptor)).find((entry) => entry !== undefined);
      const to = target?.purl ?? null;
      if (to !== null && to !== purl) graph.need(purl, to);
    }
  }
  return graph.finish();
}

/** `linkType: soft` is a folder of the repository. A patch, `name@patch:name@npm%3A1.2.3#…`, keeps the name and the version. */
function purlOf(key: string, fields: JsonObject, graph: LockGraphBuilder): string | null {
  const resolution = textOf(fields, "resolution");
  const version = textOf(fields, "version");
  if (resolution === null || version === null) throw new LockFileError(`${quoted(key)}: has no resolution or no version`);
  if (textOf(fields, "linkType") === "soft" || version === "0.0.0-use.local") return null;
  const at = resolution.indexOf("@", 1);
  if (at === -1) throw new LockFileError(`${quoted(key)}: has the resolution ${quoted(resolution)}, which names no source`);
  return graph.add({ ecosystem: "npm", name: resolution.slice(0, at), version });
}

/** The spellings of a descriptor: before Yarn 4 only the key contained the registry's protocol. */
function neededBy(fields: JsonObject): string[][] {
  const needed = Object.entries(objectOf(fields, "dependencies") ?? {});
  return needed.map(([name, range]) => [`${name}@${String(range)}`, `${name}@npm:${String(range)}`]);
}
