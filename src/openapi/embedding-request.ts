/** The body of an embeddings request, from the schema that checks requests. */
import { Type } from "@sinclair/typebox";
import { embeddingFields, inputSchema } from "../gateway/api/request/embedding.ts";
import { fieldsSchema } from "../gateway/api/request/read-value.ts";
import { modelIdCharactersMax } from "../gateway/limits.ts";
import { jsonSchema, type JsonSchema } from "../http/json-schema.ts";

const model = Type.String({
  minLength: 1,
  maxLength: modelIdCharactersMax,
  description: "Id of an embeddings model of GET /models, such as `sandbox/embed`",
});

export function embeddingRequestSchema(): JsonSchema {
  const { properties } = fieldsSchema(embeddingFields);
  const schema = Type.Object({ input: inputSchema, model, ...properties }, { additionalProperties: false });
  return jsonSchema(schema, new Map());
}
