/**
 * What the operations of /gpt/v1 share: how a prompt is sent and answered, and error answers from the error table, each status with its
 * codes and the headers that such answers have by then. An API with errors of its own form says so by `AnswerForm`.
 */
import { Type, type TProperties } from "@sinclair/typebox";
import type { ChatField } from "../gateway/api/request/chat-fields.ts";
import { fieldsSchema, type Field } from "../gateway/api/request/read-value.ts";
import { routingSchema } from "../gateway/api/request/requested-model.ts";
import { idempotencyKeyCharactersMax, modelIdCharactersMax } from "../gateway/limits.ts";
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
  retryNames,
  byStatus,
  type ResponseDescription,
} from "./operation.ts";

/** Every endpoint first checks the key. */
export const keyCodes: ErrorCode[] = ["invalid_api_key", "gateway_disabled", "internal_error", "auth_unavailable"];

/** Of every operation that is charged. */
export const idempotencyKey: Parameter = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A second request with the same key and body within 24 hours is not charged again",
  schema: { type: "string", minLength: 1, maxLength: idempotencyKeyCharactersMax + 2 },
};

export interface PromptOperation {
  operationId: string;
  summary: string;
  /** Precedes the sentences that all endpoints share. */
  description: string;
  /** Names of the schemas. */
  request: string;
  whole: string;
  chunk: string;
  /** Absent: those of chat completions. */
  form?: AnswerForm;
}

/** What differs in the answers of an API other than chat completions. */
export interface AnswerForm {
  /** Of the answer. */
  description: string;
  /** Headers besides those of every answer. */
  headers: string[];
  /** The name of the schema of its errors. */
  error: string;
  errorBody(error: GatewayError): unknown;
}

export function completes(operation: PromptOperation, keyPrefix: string): Omit<Operation, "tags" | "security"> & Exchange {
  const streamFailure = errorSchema(["upstream_error", "upstream_timeout"], "api_error");
  const { operationId, summary, description, request, whole, chunk, form } = operation;
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
          form?.description ??
          "The answer, whole or as server-sent events: each is a line `data: ` with a chunk or, if the provider fails after " +
            "the stream has begun, with an error; the last is `data: [DONE]`. Lines that begin with a colon keep a quiet stream open.",
        headers: headerReferences([
          ...generationNames,
          ...routeNames,
          ...windowNames,
          "idempotent-replayed",
          ...(form?.headers ?? []),
        ]),
        content: {
          ...jsonContent(reference(whole)),
          "text/event-stream": { schema: form === undefined ? { anyOf: [reference(chunk), streamFailure] } : reference(chunk) },
        },
      },
      ...errorAnswers(allCodes, { keyPrefix, counted: true, form }),
    },
  };
}

export function requestSchema(prompt: TProperties, table: readonly ChatField[]): JsonSchema {
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

const chatModel = Type.String({
  minLength: 1,
  maxLength: modelIdCharactersMax,
  description: "Id of a model of GET /models, such as `sandbox/echo`",
});

export function reference(name: string): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

/** @param counted whether the endpoint's requests are counted and can become generations */
export function errorAnswers(codes: readonly ErrorCode[], facts: ErrorFacts): Record<string, ResponseDescription> {
  const groups = byStatus(codes, (code) => errorTable[code].status);
  return Object.fromEntries(groups.map(([status, group]) => [status, errorAnswer(group, facts)]));
}

interface ErrorFacts {
  keyPrefix: string;
  counted: boolean;
  form?: AnswerForm | undefined;
}

function errorAnswer(codes: ErrorCode[], { keyPrefix, counted, form }: ErrorFacts): ResponseDescription {
  const messages = codes.map((code) => [code, errorTable[code].message.replace("{prefix}", keyPrefix)] as const);
  const bodyOf = form?.errorBody ?? errorBody;
  const examples = messages.map(([code, message]) => [code, { value: bodyOf(new GatewayError(code, { message })) }] as const);
  const isFinal = form !== undefined && codes.some((code) => errorTable[code].status < 429);
  return {
    description: messages.map(([code, message]) => `\`${code}\`: ${message}`).join(". "),
    headers: headerReferences([...new Set([...headerNames(codes, counted), ...(isFinal ? ["x-should-retry"] : [])])]),
    content: {
      "application/json": {
        schema: form === undefined ? errorSchema(codes) : reference(form.error),
        examples: Object.fromEntries(examples),
      },
    },
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

/**
 * @param type replaces the table's: errors of a stream that has begun have `api_error`
 * @param more codes that the table does not have
 */
export function errorSchema(codes: readonly ErrorCode[], type?: ErrorType, more: readonly string[] = []): JsonSchema {
  const types = [...new Set(type === undefined ? codes.map((code) => errorTable[code].type) : [type])];
  const error = {
    type: "object",
    required: ["message", "type", "code", "param"],
    properties: {
      message: { type: "string", description: "For people; may change" },
      type: { type: "string", enum: types, description: "The kind of error, by its status" },
      code: { type: "string", enum: [...codes, ...more], description: "Stable code for programs" },
      param: { type: ["string", "null"], description: "The wrong field, such as `messages[0].content`, or null" },
    },
    description: "What went wrong",
  };
  return { type: "object", required: ["error"], properties: { error } };
}

// The keys of the table are its codes.
export const allCodes = Object.keys(errorTable) as ErrorCode[];
