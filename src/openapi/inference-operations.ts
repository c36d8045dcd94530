/**
 * The operations of /gpt/v1. Bodies come from the schemas that check requests, error answers from the error table: each status with its
 * codes, and the headers that such answers have.
 */
import { Type, type TProperties } from "@sinclair/typebox";
import { chatFields, type ChatField } from "../gateway/api/request/chat-fields.ts";
import { messagesSchema } from "../gateway/api/request/chat-parts.ts";
import { promptSchema, completionFields } from "../gateway/api/request/completion.ts";
import { embeddingFields, inputSchema } from "../gateway/api/request/embedding.ts";
import { fieldsSchema, type Field } from "../gateway/api/request/read-value.ts";
import { routingSchema } from "../gateway/api/request/requested-model.ts";
import { inferencePrefix } from "../gateway/api/routes.ts";
import { idempotencyKeyCharactersMax, modelIdCharactersMax } from "../gateway/limits.ts";
import { UsageFields } from "../gateway/usage/periods.ts";
import { type JsonSchema, jsonSchema } from "../http/json-schema.ts";
import { errorTable, type ErrorCode, errorBody, GatewayError, type ErrorType } from "../kernel/errors.ts";
import {
  generationNames,
  headerReferences,
  routeNames,
  windowNames,
  jsonContent,
  type Exchange,
  type Operation,
  type Parameter,
  type Paths,
  retryNames,
  byStatus,
  type ResponseDescription,
} from "./operation.ts";

/** Every endpoint first checks the key. */
const keyCodes: ErrorCode[] = ["invalid_api_key", "gateway_disabled", "internal_error", "auth_unavailable"];

const all: Parameter = {
  name: "all",
  in: "query",
  required: false,
  description: "With `true` also the models that cannot be called, each with its reason",
  schema: { type: "string", enum: ["true", "false"] },
};
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
const idempotencyKey: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A second request with the same key and body within 24 hours is not charged again",
  schema: { type: "string", minLength: 1, maxLength: idempotencyKeyCharactersMax + 2 },
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
        parameters: [all],
        responses: answers("ModelList", ["model_unavailable"]),
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
  };
}

export function chatCompletionExchange(keyPrefix: string): Exchange {
  const { requestBody, responses } = completes(chatCompletion, keyPrefix);
  return { requestBody, responses };
}

interface PromptOperation {
  operationId: string;
  summary: string;
  /** Precedes the sentences that all endpoints share. */
  description: string;
  /** Names of the schemas. */
  request: string;
  whole: string;
  chunk: string;
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

function reference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** @param counted whether the endpoint's requests are counted and can become generations */
function errorAnswers(
  codes: readonly ErrorCode[],
  { keyPrefix, counted }: { keyPrefix: string; counted: boolean },
): Record<string, ResponseDescription> {
  const groups = byStatus(codes, (code) => errorTable[code].status);
  return Object.fromEntries(groups.map(([status, group]) => [status, errorAnswer(group, { keyPrefix, counted })]));
}

function errorAnswer(codes: ErrorCode[], { keyPrefix, counted }: { keyPrefix: string; counted: boolean }): ResponseDescription {
  const messages = codes.map((code) => [code, errorTable[code].message.replace("{prefix}", keyPrefix)] as const);
  const examples = messages.map(([code, message]) => [code, { value: errorBody(new GatewayError(code, { message })) }] as const);
  return {
    description: messages.map(([code, message]) => `\`${code}\`: ${message}`).join(". "),
    headers: headerReferences(headerNames(codes, counted)),
    content: { "application/json": { schema: errorSchema(codes), examples: Object.fromEntries(examples) } },
  };
}

/** Codes of the checks before the count of requests per minute. */
const early = new Set<ErrorCode>([
  "invalid_request",
  "unsupported_parameter",
  "invalid_api_key",
  "gateway_disabled",
  "idempotency_in_progress",
  "idempotency_spent",
  "request_too_large",
  "idempotency_mismatch",
  "auth_unavailable",
]);
/** Codes after the request was accepted; such answers name the generation. */
const late = new Set<ErrorCode>([
  "upstream_rejected",
  "upstream_rate_limited",
  "internal_error",
  "upstream_error",
  "upstream_auth",
  "model_unavailable",
  "upstream_timeout",
]);

function headerNames(codes: ErrorCode[], counted: boolean): string[] {
  return [
    ...(codes.some((code) => errorTable[code].status === 429 || code === "idempotency_in_progress") ? retryNames : []),
    ...(codes.some((code) => "shouldRetry" in errorTable[code]) ? ["x-should-retry"] : []),
    ...(counted && codes.some((code) => !early.has(code)) ? windowNames : []),
    ...(counted && codes.some((code) => late.has(code)) ? generationNames : []),
    ...(codes.includes("idempotency_spent") ? generationNames.slice(0, 1) : []),
  ];
}

/** @param type replaces the table's: errors of a stream that has begun have `api_error` */
function errorSchema(codes: readonly ErrorCode[], type?: ErrorType): JsonSchema {
  const types = [...new Set(type === undefined ? codes.map((code) => errorTable[code].type) : [type])];
  const error = {
    type: "object",
    required: ["message", "type", "code", "param"],
    properties: {
      message: { type: "string", description: "For people; may change" },
      type: { type: "string", enum: types, description: "The kind of error, by its status" },
      code: { type: "string", enum: [...codes], description: "Stable code for programs" },
      param: { type: ["string", "null"], description: "The wrong field, such as `messages[0].content`, or null" },
    },
    description: "What went wrong",
  };
  return { type: "object", required: ["error"], properties: { error } };
}

// The keys of the table are its codes.
const allCodes = Object.keys(errorTable) as ErrorCode[];

function completes(operation: PromptOperation, keyPrefix: string): Omit<Operation, "tags" | "security"> & Exchange {
  const streamFailure = errorSchema(["upstream_error", "upstream_timeout"], "api_error");
  const { operationId, summary, description, request, whole, chunk } = operation;
  return {
    operationId,
    summary,
    description:
      `${description}The maximum cost is reserved before the provider is called, and the actual cost is charged afterwards. A refusal ` +
      "before the call costs nothing. The body is at most 8 MiB of JSON, not compressed.",
    parameters: [idempotencyKey],
    requestBody: { required: true, content: jsonContent(reference(request)) },
    responses: {
      "200": {
        description:
          "The answer, whole or as server-sent events: each is a line `data: ` with a chunk or, if the provider fails after " +
          "the stream has begun, with an error; the last is `data: [DONE]`. Lines that begin with a colon keep a quiet stream open.",
        headers: headerReferences([...generationNames, ...routeNames, ...windowNames, "idempotent-replayed"]),
        content: {
          ...jsonContent(reference(whole)),
          "text/event-stream": { schema: { anyOf: [reference(chunk), streamFailure] } },
        },
      },
      ...errorAnswers(allCodes, { keyPrefix, counted: true }),
    },
  };
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

const chatModel = Type.String({
  minLength: 1,
  maxLength: modelIdCharactersMax,
  description: "Id of a model of GET /models, such as `sandbox/echo`",
});

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
  const schema = Type.Object({ model: chatModel, ...prompt, ...properties }, { additionalProperties: false });
  return jsonSchema(schema, new Map());
}
