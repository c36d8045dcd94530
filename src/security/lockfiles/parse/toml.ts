import { parse, TomlError } from "smol-toml";
import { lockFileDepthMax } from "../../limits.ts";
import type { JsonObject } from "../../sboms/json/value.ts";
import { LockFileError } from "../lock-file-error.ts";

/** @throws LockFileError with the line */
export function parseLockToml(text: string): JsonObject {
  try {
    return tableOf(parse(text, { maxDepth: lockFileDepthMax, integersAsBigInt: "asNeeded", unsafeKeyBehaviour: "throw" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ""] = error.message.split("\n", 1);
    throw new LockFileError(`cannot be read as TOML: ${reason.replace(/^Invalid TOML document: /, "")}, in line ${error.line}`);
  }
}

/** Dates and large integers are not JSON; readers use texts, booleans, lists and tables, and ignore the rest. */
function tableOf(table: object): JsonObject {
  return table as JsonObject;
}
