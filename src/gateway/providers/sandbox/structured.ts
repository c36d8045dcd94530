/** The sandbox's answers to `response_format`: JSON, by a schema or any object. */
import { Buffer } from "node:buffer";
import { scanJson } from "../../../http/json-scan.ts";
import { sandboxSchemaStepsMax } from "../../limits.ts";
import { asObject, parseJson, type JsonObject } from "../wire/json.ts";
import { accepts } from "./schema-check.ts";
import { schemaValue } from "./schema-value.ts";
import { SchemaWork } from "./schema-work.ts";

/**
 * The text of an answer in the requested format: what the user said where it is such JSON, else a small value.
 * @returns null: any text will do @throws UnsatisfiableError with the path of the keyword that cannot be kept
 */
export function structuredText(request: JsonObject, said: string): string | null {
  const format = asObject(request["response_format"]);
  if (format === null || format["type"] === "text") return null;
  const schema = asObject(asObject(format["json_schema"])?.["schema"]);
  const echoed = saidJson(said);
  if (schema === null) return JSON.stringify(asObject(echoed) ?? { text: said });
  const value = schemaValue(schema);
  const isEcho = echoed !== undefined && accepts(schema, echoed, new SchemaWork(schema, sandboxSchemaStepsMax));
  return JSON.stringify(isEcho ? echoed : value);
}

/** @returns undefined: it is no JSON, or has more values, fields or levels than one thread may look at */
function saidJson(said: string): unknown {
  try {
    scanJson(Buffer.from(said), { valuesMax: sandboxSchemaStepsMax });
  } catch {
    return undefined;
  }
  return parseJson(said);
}
