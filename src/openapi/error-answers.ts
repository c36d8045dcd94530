/** The error answers of the inference API from its error table: each status with its codes. */
import { errorBody, errorTable, GatewayError, type ErrorCode, type ErrorType } from "../kernel/errors.ts";
import { generationNames, headerReferences, retryNames, windowNames } from "./headers.ts";
import type { JsonSchema } from "../http/json-schema.ts";
import { byStatus, type ResponseDescription } from "./operation.ts";

/** Codes of the checks before the count of requests per minute. */
const early = new Set<ErrorCode>([
  "invalid_request",
  "unsupported_parameter",
  "invalid_api_key",
  "gateway_disabled",
  "request_too_large",
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

/** @param counted whether the endpoint's requests are counted and can become generations */
export function errorAnswers(
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

function headerNames(codes: ErrorCode[], counted: boolean): string[] {
  return [
    ...(codes.some((code) => errorTable[code].status === 429) ? retryNames : []),
    ...(codes.some((code) => "shouldRetry" in errorTable[code]) ? ["x-should-retry"] : []),
    ...(counted && codes.some((code) => !early.has(code)) ? windowNames : []),
    ...(counted && codes.some((code) => late.has(code)) ? generationNames : []),
  ];
}

/** @param type replaces the table's: errors of a stream that has begun have `api_error` */
export function errorSchema(codes: readonly ErrorCode[], type?: ErrorType): JsonSchema {
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
