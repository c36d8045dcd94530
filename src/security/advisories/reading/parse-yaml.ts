/** Parses YAML without aliases, which could grow without limit, and without tags. Numbers stay texts. */
import { boolCoreTag, FAILSAFE_SCHEMA, load, nullCoreTag, YAMLException } from "js-yaml";
import { jsonDepthMax } from "../../../http/limits.ts";
import { RecordError } from "./record-error.ts";

/** A version 1.10 without quotes stays 1.10: the format has no numbers, so scalars are text unless they are true, false or null. */
const schema = FAILSAFE_SCHEMA.withTags(nullCoreTag, boolCoreTag);

/** @throws RecordError naming the line */
export function parseYaml(text: string): unknown {
  try {
    return load(text, { schema, maxAliases: 0, maxDepth: jsonDepthMax });
  } catch (error) {
    if (error instanceof YAMLException) throw new RecordError("", `cannot be read as YAML: ${error.reason}${lineOf(error)}`);
    throw error;
  }
}

function lineOf(error: YAMLException): string {
  return error.mark ? `, in line ${error.mark.line + 1}` : "";
}
