/** `[[package]]` of TOML lock files, which Poetry, uv, PDM and cargo share. */
import { fieldOf, isObject, textOf, type JsonObject } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";
import { parseLockToml } from "./toml.ts";

export interface LockEntry {
  name: string;
  version: string | null;
  fields: JsonObject;
}

/** @throws LockFileError with the entry */
export function lockEntries(text: string): { lock: JsonObject; entries: LockEntry[] } {
  const lock = parseLockToml(text);
  const packages = fieldOf(lock, "package") ?? [];
  if (!Array.isArray(packages)) throw new LockFileError("package: is no list of tables");
  const entries = packages.map((fields, index) => {
    const name = isObject(fields) ? textOf(fields, "name") : null;
    if (!isObject(fields) || name === null) throw new LockFileError(`package[${index}].name: is missing`);
    return { name, version: textOf(fields, "version"), fields };
  });
  return { lock, entries };
}
