/** The sandbox's answers to `response_format`: JSON, by a schema or any object. */
import type { ChatBody, UnsupportedField } from "../provider.ts";
import { asObject, parseJson, type JsonObject } from "../wire/json.ts";
import { sandboxSchemaStepsMax } from "../../limits.ts";
import { accepts, SchemaWork, UnsatisfiableError } from "./schema-check.ts";
import { schemaValue } from "./schema-value.ts";

/**
 * The text of an answer in the requested format: what the user said where it is such JSON, else a small value.
 * @returns null: any text will do @throws UnsatisfiableError
 */
export function structuredText(request: JsonObject, said: string): string | null {
  const format = asObject(request["response_format"]);
  if (format === null || format["type"] === "text") return null;
  const schema = schemaOf(format);
  const echoed = parseJson(said);
  if (schema === null) return JSON.stringify(asObject(echoed) ?? { text: said });
  return JSON.stringify(isAccepted(echoed, schema) ? echoed : schemaValue(schema));
}

/** A value that is too large to check is not accepted. */
function isAccepted(value: unknown, schema: JsonObject): boolean {
  try {
    return value !== undefined && accepts(schema, value, new SchemaWork(schema, sandboxSchemaStepsMax));
  } catch (error) {
    if (error instanceof UnsatisfiableError) return false;
    throw error;
  }
}

/** See `WireFormat.unsupportedField`: a schema that the sandbox makes no value for. */
export function sandboxUnsupportedField(chat: ChatBody): UnsupportedField | null {
  const format = asObject(chat["response_format"]);
  const schema = format === null ? null : schemaOf(format);
  try {
    if (schema !== null) schemaValue(schema);
    return null;
  } catch (error) {
    if (!(error instanceof UnsatisfiableError)) throw error;
    const param = `response_format.json_schema.schema${error.at}`;
    return { param, message: `${chat.model} does not support ${param}: ${error.message}` };
  }
}

/** null: none, which allows any object. */
function schemaOf(format: JsonObject): JsonObject | null {
  return asObject(asObject(format["json_schema"])?.["schema"]);
}
