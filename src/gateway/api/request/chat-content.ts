/** A message's content: text, or text in parts. */
import { Type } from "@sinclair/typebox";
import { isJsonObject } from "../../../http/json-object.ts";
import { cacheControl } from "./cache-control.ts";
import { anyString, listOf, objectOf, oneOf, reader, required, truncated, type Field, type Reader } from "./read-value.ts";
import { invalidRequest, unsupportedParameter } from "../../../http/bad-request.ts";

const partType = (word: string): Field => required(oneOf(word), "The kind of part");
const textFields = { type: partType("text"), text: required(anyString, "The text") };
const textPart = objectOf(textFields);
const promptPart = objectOf({ ...textFields, cache_control: cacheControl("this part") });
const refusalPart = objectOf({ type: partType("refusal"), refusal: required(anyString, "The text of the refusal") });

export const textContent: Reader = contentOf({ text: textPart });
/** Text of a prompt, which providers can cache. */
export const promptContent: Reader = contentOf({ text: promptPart });
/** The model's own refusal is text too. */
export const assistantContent: Reader = contentOf({ text: promptPart, refusal: refusalPart });

function contentOf(parts: Record<string, Reader>): Reader {
  const readers = new Map(Object.entries(parts));
  const partSchema = Type.Union([...readers.values()].map(({ schema }) => schema));
  const schema = Type.Union([Type.String(), Type.Array(partSchema, { minItems: 1 })]);
  return reader(schema, (value, at, context) => {
    if (typeof value === "string") return value;
    if (!Array.isArray(value)) throw invalidRequest(at, `${at} must be a string or an array of text parts`);
    const part = reader(partSchema, (one, place) => {
      const type = isJsonObject(one) ? one["type"] : undefined;
      if (typeof type !== "string") throw invalidRequest(place, `${place} must be an object with a type`);
      const read = readers.get(type);
      if (!read)
        throw unsupportedParameter(at, `Cannot send a content part of type "${truncated(type)}": only text content is supported`);
      return read(one, place, context);
    });
    return listOf(part, 1)(value, at, context);
  });
}
