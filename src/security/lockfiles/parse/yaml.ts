/** Parses YAML as package managers write it: no aliases, no tags, and numbers as text, so that a version 1.10 stays 1.10. */
import { boolCoreTag, FAILSAFE_SCHEMA, loadAll, nullCoreTag, YAMLException } from "js-yaml";
import { lockFileDepthMax } from "../../limits.ts";
import { isObject, type JsonObject, type JsonValue } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";

const schema = FAILSAFE_SCHEMA.withTags(nullCoreTag, boolCoreTag);

/** The documents of a stream that are mappings. @throws LockFileError with the line */
export function parseLockYaml(text: string): JsonObject[] {
  try {
    return valuesOf(loadAll(text, { schema, maxAliases: 0, maxDepth: lockFileDepthMax })).filter(isObject);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark ? `, in line ${error.mark.line + 1}` : "";
    throw new LockFileError(`cannot be read as YAML: ${error.reason}${line}`);
  }
}

/** The schema only produces texts, booleans, nulls, lists and mappings with text keys. */
function valuesOf(documents: unknown): JsonValue[] {
  return documents as JsonValue[];
}
