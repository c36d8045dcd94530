/** The body of a chat completion, from the schema that checks requests. */
import { Type } from "@sinclair/typebox";
import { chatFields } from "../gateway/api/request/chat-fields.ts";
import { messagesSchema } from "../gateway/api/request/chat-messages.ts";
import { fieldsSchema, type Field } from "../gateway/api/request/read-value.ts";
import { modelIdCharactersMax } from "../gateway/limits.ts";
import { jsonSchema, type JsonSchema } from "../http/json-schema.ts";

const model = Type.String({
  minLength: 1,
  maxLength: modelIdCharactersMax,
  description: "Id of a model of GET /models, such as `sandbox/echo`",
});

export function chatRequestSchema(): JsonSchema {
  const fields = chatFields.map(({ needs, ...field }): [string, Field] => [
    field.name,
    needs === undefined ? field : { ...field, description: `${field.description}. Not every model supports it` },
  ]);
  const { properties } = fieldsSchema(fields);
  const schema = Type.Object({ model, messages: messagesSchema, ...properties }, { additionalProperties: false });
  return jsonSchema(schema, new Map());
}
