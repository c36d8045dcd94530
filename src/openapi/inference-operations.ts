/**
 * The operations of /gpt/v1. Bodies come from the schemas that check requests, error answers from the error table: each status with its
 * codes, and the headers that such answers have.
 */
import { Type } from "@sinclair/typebox";
import { chatFields } from "../gateway/api/request/chat-fields.ts";
import { messagesSchema } from "../gateway/api/request/chat-parts.ts";
import { promptSchema, completionFields } from "../gateway/api/request/completion.ts";
import { embeddingFields, inputSchema } from "../gateway/api/request/embedding.ts";
import { fieldsSchema } from "../gateway/api/request/read-value.ts";
import { inferencePrefix } from "../gateway/api/routes.ts";
import { modelIdCharactersMax } from "../gateway/limits.ts";
import { UsageFields } from "../gateway/usage/periods.ts";
import { type JsonSchema, jsonSchema } from "../http/json-schema.ts";
import type { ErrorCode } from "../kernel/errors.ts";
import { agentPaths } from "./agent-operations.ts";
import {
  allCodes,
  completes,
  errorAnswers,
  idempotencyKey,
  keyCodes,
  reference,
  requestSchema,
  type PromptOperation,
} from "./inference-parts.ts";
import {
  generationNames,
  headerReferences,
  windowNames,
  jsonContent,
  type Exchange,
  type Operation,
  type Parameter,
  type Paths,
} from "./operation.ts";

const all: Parameter = {
  name: "all",
  in: "query",
  required: false,
  description: "With `true` also the models that cannot be called, each with its reason",
  schema: { type: "string", enum: ["true", "false"] },
};

const pageParameters = [
  {
    name: "limit",
    description: "The most models, from 1 to 1,000; absent: all",
    schema: { type: "integer", minimum: 1, maximum: 1_000 },
  },
  { name: "after_id", description: "Only what follows this id", schema: { type: "string" } },
  { name: "before_id", description: "Only what precedes this id", schema: { type: "string" } },
].map((parameter): Parameter => ({ ...parameter, in: "query", required: false }));

const modelId: Parameter = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of a model. The slash may be escaped: `sandbox/echo` and `sandbox%2Fecho` are the same",
  schema: { type: "string" },
};

const generationId: Parameter = {
  name: "id",
  in: "query",
  required: true,
  description: "The id of an ended request of the calling key, as in its answer's `X-Generation-Id`",
  schema: { type: "string" },
};
const usageParameters = Object.entries(UsageFields.properties).map(([name, schema]): Parameter => ({
  name,
  in: "query",
  required: false,
  description: String(schema.description),
  schema: { type: "string" },
}));

export function inferencePaths(keyPrefix: string): Paths {
  const shared = { tags: ["inference"], security: [{ apiKey: [] }] };
  const answers = (schema: string, codes: ErrorCode[] = []): Operation["responses"] => ({
    "200": { description: "The answer", content: jsonContent(reference(schema)) },
    ...errorAnswers([...keyCodes, ...codes], { keyPrefix, counted: false }),
  });
  return {
    [`${inferencePrefix}/chat/completions`]: { post: { ...shared, ...completes(chatCompletion, keyPrefix) } },
    [`${inferencePrefix}/models`]: {
      get: {
        ...shared,
        operationId: "listModels",
        summary: "List the models that the key can call",
        parameters: [all, ...pageParameters],
        responses: answers("ModelList", ["invalid_request", "model_unavailable"]),
      },
    },
    [`${inferencePrefix}/models/{id}`]: {
      get: {
        ...shared,
        operationId: "retrieveModel",
        summary: "Describe a model",
        parameters: [modelId],
        responses: answers("Model", ["model_not_found", "model_unavailable"]),
      },
    },
    [`${inferencePrefix}/key`]: {
      get: { ...shared, operationId: "describeKey", summary: "Describe the calling key", responses: answers("Key") },
    },
    [`${inferencePrefix}/usage`]: {
      get: {
        ...shared,
        "x-addition": true,
        operationId: "describeUsage",
        summary: "Sum what the calling key used",
        description: "An addition of this service: other services of the format have no such path.",
        parameters: usageParameters,
        responses: answers("Usage", ["invalid_request", "billing_unavailable"]),
      },
    },
    [`${inferencePrefix}/generation`]: {
      get: {
        ...shared,
        "x-addition": true,
        operationId: "describeGeneration",
        summary: "Show what one request of the calling key came to",
        description: "An addition of this service. A request is shown within 5 seconds of its end.",
        parameters: [generationId],
        responses: {
          ...answers("Generation", ["invalid_request", "billing_unavailable"]),
          "404": { description: "There is none, it has not ended, or it is of another key", content: jsonContent(detailSchema) },
        },
      },
    },
    [`${inferencePrefix}/embeddings`]: { post: { ...shared, ...embeddings(keyPrefix) } },
    [`${inferencePrefix}/completions`]: { post: { ...shared, ...completes(completion, keyPrefix) } },
    ...agentPaths(keyPrefix),
  };
}

export function chatCompletionExchange(keyPrefix: string): Exchange {
  const { requestBody, responses } = completes(chatCompletion, keyPrefix);
  return { requestBody, responses };
}

const chatCompletion: PromptOperation = {
  operationId: "createChatCompletion",
  summary: "Complete a chat",
  description: "",
  request: "ChatRequest",
  whole: "ChatCompletion",
  chunk: "ChatCompletionChunk",
};

const completion: PromptOperation = {
  operationId: "createCompletion",
  summary: "Complete a single prompt",
  description:
    "In early access: 403 `gateway_disabled`, before the body is read, unless `completions` is switched on for the workspace. " +
    "The legacy format for chat models: the prompt is the only message. ",
  request: "CompletionRequest",
  whole: "Completion",
  chunk: "CompletionChunk",
};

const detailSchema = {
  type: "object",
  required: ["detail"],
  properties: { detail: { type: "string", description: "For people" } },
};

/** The body of chat completions. */
export function chatRequestSchema(): JsonSchema {
  return requestSchema({ messages: messagesSchema }, chatFields);
}

export function completionRequestSchema(): JsonSchema {
  return requestSchema({ prompt: promptSchema }, completionFields);
}

const embeddingModel = Type.String({
  minLength: 1,
  maxLength: modelIdCharactersMax,
  description: "Id of an embeddings model of GET /models, such as `sandbox/embed`",
});

/** The body of an embeddings request. */
export function embeddingRequestSchema(): JsonSchema {
  const { properties } = fieldsSchema(embeddingFields);
  const schema = Type.Object({ input: inputSchema, model: embeddingModel, ...properties }, { additionalProperties: false });
  return jsonSchema(schema, new Map());
}

function embeddings(keyPrefix: string): Omit<Operation, "tags" | "security"> {
  return {
    operationId: "createEmbedding",
    summary: "Embed texts",
    description:
      "In early access: 403 `gateway_disabled` unless the workspace has `embeddings`. Billed per input token at the provider's list " +
      "price, reserved and charged like a chat. The texts are never stored. The body is at most 8 MiB of JSON, not compressed.",
    parameters: [idempotencyKey],
    requestBody: { required: true, content: jsonContent(reference("EmbeddingRequest")) },
    responses: {
      "200": {
        description: "The vectors",
        headers: headerReferences([...generationNames, ...windowNames]),
        content: jsonContent(reference("Embeddings")),
      },
      ...errorAnswers(allCodes, { keyPrefix, counted: true }),
    },
  };
}
