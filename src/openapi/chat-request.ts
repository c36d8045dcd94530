/** The body of a chat completion, as the check of requests reads it. */
import { Type } from "@sinclair/typebox";
import { chatFields } from "../gateway/api/request/chat-fields.ts";
import { messagesSchema } from "../gateway/api/request/chat-messages.ts";
import { fieldsSchema } from "../gateway/api/request/read-value.ts";
import { modelIdCharactersMax } from "../gateway/limits.ts";
import { isJsonObject } from "../http/json-object.ts";
import { additions, fieldWords } from "./field-words.ts";
import { jsonSchema, type JsonSchema } from "../http/json-schema.ts";

export function chatRequestSchema(): JsonSchema {
  const { properties } = fieldsSchema(chatFields.map((field) => [field.name, field]));
  const model = Type.String({ minLength: 1, maxLength: modelIdCharactersMax });
  const schema = Type.Object({ model, messages: messagesSchema, ...properties }, { additionalProperties: false });
  return worded(jsonSchema(schema, new Map()), "");
}

/** Paths are written as an error's `param` writes them, without numbers: `messages[].content`. */
function worded(schema: JsonSchema, path: string): JsonSchema {
  const { properties, items, anyOf } = schema;
  const result = { ...schema };
  if (isJsonObject(properties)) {
    const entries = Object.entries(properties).map(([name, one]) => [
      name,
      wordedField(one, path === "" ? name : `${path}.${name}`),
    ]);
    result["properties"] = Object.fromEntries(entries);
  }
  if (isJsonObject(items)) result["items"] = worded(items, `${path}[]`);
  if (Array.isArray(anyOf)) result["anyOf"] = anyOf.filter(isJsonObject).map((branch) => worded(branch, path));
  return result;
}

function wordedField(schema: unknown, path: string): JsonSchema {
  const description = fieldWords[path];
  const needy = chatFields.some(({ name, needs }) => name === path && needs !== undefined);
  return {
    ...worded(isJsonObject(schema) ? schema : {}, path),
    ...(description !== undefined && { description: needy ? `${description}. Not every model supports it` : description }),
    ...(additions.has(path) && { "x-addition": true }),
  };
}
