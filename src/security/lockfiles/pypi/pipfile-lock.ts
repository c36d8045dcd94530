/**
 * Pipfile.lock. It only lists packages, without the dependencies between them.
 * Source: https://pipenv.pypa.io/en/latest/pipfile.html#pipfile-lock
 */
import { fieldOf, isObject, textOf } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { LockGraphBuilder, quoted, type LockGraph, type LockScope } from "../lock-graph.ts";
import { parseLockJson } from "../parse/json.ts";

/** @throws LockFileError with the entry */
export function readPipfileLock(text: string): LockGraph {
  const lock = parseLockJson(text);
  const graph = new LockGraphBuilder();
  for (const [category, entries] of Object.entries(lock)) {
    if (category === "_meta") continue;
    if (!isObject(entries)) throw new LockFileError(`${quoted(category)}: is no object`);
    // A project may have further categories besides "default" and "develop".
    const scope: LockScope = category === "default" ? "required" : category === "develop" ? "excluded" : "optional";
    for (const [name, entry] of Object.entries(entries)) {
      if (!isObject(entry)) throw new LockFileError(`${quoted(category)}[${quoted(name)}]: is no object`);
      if (fieldOf(entry, "editable") === true || fieldOf(entry, "path") !== undefined) continue;
      const version = /^===?([^*,]+)$/.exec(textOf(entry, "version") ?? "")?.[1];
      if (version === undefined) graph.skip(name, "it is pinned to no version");
      else graph.add({ ecosystem: "PyPI", name, version: version.trim(), scope });
    }
  }
  return graph.finish();
}
