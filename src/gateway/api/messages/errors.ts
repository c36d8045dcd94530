/**
 * Errors in the format of Messages: `{type: "error", error, request_id}` with the API's own types. They also have our `code` and `param`,
 * which no client minds. Agents act on types, on `x-should-retry` and on a few messages, so these are written as the API writes them. The
 * message about a prompt that is too long has the numbers that the gateway counts; an agent then shortens its conversation or asks for less
 * output. No message is a provider's.
 */
import { Type } from "@sinclair/typebox";
import { errorTable, type ErrorCode, type ErrorShape, type GatewayError } from "../../../kernel/errors.ts";
import { jsonResponse } from "../../../kernel/json.ts";
import { tooLong } from "../answer/upstream-errors.ts";

const errorTypes = [
  "invalid_request_error",
  "authentication_error",
  "billing_error",
  "permission_error",
  "not_found_error",
  "request_too_large",
  "rate_limit_error",
  "timeout_error",
  "overloaded_error",
  "api_error",
] as const;
type MessageErrorType = (typeof errorTypes)[number];

const typeByStatus = new Map<number, MessageErrorType>([
  [400, "invalid_request_error"],
  [401, "authentication_error"],
  [402, "billing_error"],
  [403, "permission_error"],
  [404, "not_found_error"],
  [409, "invalid_request_error"],
  [413, "request_too_large"],
  [422, "invalid_request_error"],
  [429, "rate_limit_error"],
  [504, "timeout_error"],
]);

/** Agents wait for a service that is overloaded, and then go on. */
const overloaded = new Set<ErrorCode>(["billing_unavailable", "auth_unavailable"]);

/** A retry of the same request cannot succeed, but agents would retry without the header. */
const finalStatuses = new Set([400, 401, 402, 403, 404, 409, 413, 422]);

export const MessageError = Type.Object({
  type: Type.Literal("error", { description: "The kind of object" }),
  error: Type.Object(
    {
      type: Type.Union(
        errorTypes.map((type) => Type.Literal(type)),
        { description: "The kind of error, by its status" },
      ),
      message: Type.String({ description: "For people; may change" }),
      code: Type.String({ description: "Stable code for programs", "x-addition": true }),
      param: Type.Union([Type.String(), Type.Null()], { description: "The wrong field, or null", "x-addition": true }),
      details: Type.Optional(Type.Unknown({ description: "What a program may act on" })),
    },
    { description: "What went wrong" },
  ),
  request_id: Type.Optional(
    Type.Union([Type.String(), Type.Null()], { description: "As in `X-Request-Id`; null: the request was refused" }),
  ),
});

export const messagesErrors: ErrorShape = {
  response(error, headers, request) {
    const isFinal = finalStatuses.has(error.status);
    return jsonResponse(
      { ...messageErrorBody(error), request_id: request },
      { status: error.status, headers: { ...headers, ...(isFinal && { "x-should-retry": "false" }), ...error.headers } },
    );
  },
};

/** Also the data of the event `error` of a stream. */
export function messageErrorBody(error: GatewayError): { type: "error"; error: Record<string, unknown> } {
  const { code, param, details } = error;
  const message = tooLongText(error) ?? error.message;
  return { type: "error", error: { type: messageErrorType(code), message, code, param, ...(details !== null && { details }) } };
}

export function messageErrorType(code: ErrorCode): MessageErrorType {
  return overloaded.has(code) ? "overloaded_error" : (typeByStatus.get(errorTable[code].status) ?? "api_error");
}

/** null: the error is another. */
function tooLongText(error: GatewayError): string | null {
  const refused = tooLong(error);
  if (refused === null) return null;
  const { size } = refused;
  if (size === null || size.context === 0) return `prompt is too long: ${error.message}`;
  const { prompt, output, context } = size;
  if (prompt < context && output !== null && prompt + output > context)
    return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${output} > ${context}, decrease input length or \`max_tokens\` and try again`;
  return `prompt is too long: ${Math.max(prompt, context + 1)} tokens > ${context} maximum`;
}
