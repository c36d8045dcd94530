/** Parses JSON of lock files like that of SBOMs, with its own limits. */
import { lockFileDepthMax, lockFileFieldsMax, lockFileValuesMax } from "../../limits.ts";
import { parseJson } from "../../sboms/json/parse.ts";
import { isObject, type JsonObject } from "../../sboms/json/value.ts";
import { SbomRefusal } from "../../sboms/refusal.ts";
import { LockFileError } from "../lock-file-error.ts";

const bounds = { depthMax: lockFileDepthMax, valuesMax: lockFileValuesMax, fieldsMax: lockFileFieldsMax };

/** @throws LockFileError */
export function parseLockJson(text: string): JsonObject {
  const value = parsed(text);
  if (!isObject(value)) throw new LockFileError("is JSON, but no object");
  return value;
}

function parsed(text: string) {
  try {
    return parseJson(new TextEncoder().encode(text), text, bounds);
  } catch (error) {
    if (!(error instanceof SbomRefusal)) throw error;
    throw new LockFileError(error.message.replace(/^The document /, ""));
  }
}
