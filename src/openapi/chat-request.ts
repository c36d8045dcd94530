/** The bodies of chat completions and completions, from the schemas that check requests. */
import { Type, type TProperties } from "@sinclair/typebox";
import { chatFields, type ChatField } from "../gateway/api/request/chat-fields.ts";
import { messagesSchema } from "../gateway/api/request/chat-parts.ts";
import { promptSchema, completionFields } from "../gateway/api/request/completion.ts";
import { fieldsSchema, type Field } from "../gateway/api/request/read-value.ts";
import { routingSchema } from "../gateway/api/request/routing.ts";
import { modelIdCharactersMax } from "../gateway/limits.ts";
import { jsonSchema, type JsonSchema } from "../http/json-schema.ts";

const model = Type.String({
  minLength: 1,
  maxLength: modelIdCharactersMax,
  description: "Id of a model of GET /models, such as `sandbox/echo`",
});

export function chatRequestSchema(): JsonSchema {
  return requestSchema({ messages: messagesSchema }, chatFields);
}

export function completionRequestSchema(): JsonSchema {
  return requestSchema({ prompt: promptSchema }, completionFields);
}

function requestSchema(prompt: TProperties, table: readonly ChatField[]): JsonSchema {
  const fields = table.map(({ needs, ...field }): [string, Field] => [
    field.name,
    needs === undefined ? field : { ...field, description: `${field.description}. Not every model supports it` },
  ]);
  const routing = routingSchema.map(([name, field]): [string, Field] => [
    name,
    { ...field, description: `${field.description}. Early access: refused unless the workspace has routing on` },
  ]);
  const { properties } = fieldsSchema([...fields, ...routing]);
  const schema = Type.Object({ model, ...prompt, ...properties }, { additionalProperties: false });
  return jsonSchema(schema, new Map());
}
