/**
 * Turns whatever an endpoint threw into the response that the specification has for it, counts it, and notes it as a refused call. An error
 * that is not a `GatewayError` is our bug: it is logged and answered as 500 `internal_error`, without its text. `endingError` is the same for
 * a request that was accepted already: it has a charge and a row in the log, so only errors that may end it count.
 */
import { RefusedError } from "../admission/client.ts";
import { chatErrors, endingErrorCodes, GatewayError, type EndingErrorCode, type ErrorShape } from "../../kernel/errors.ts";
import { countRequest } from "../../kernel/metrics.ts";
import type { Gateway } from "./gateway.ts";
import { MethodNotAllowedError } from "../../http/router.ts";
import { jsonResponse } from "../../kernel/json.ts";
import type { RefusedEndpoint } from "../refusals/schema.ts";
import { retryHeaders, windowHeaders } from "./answer/response.ts";
import { noteRefusal } from "./refused.ts";

/** What wrote an answer's error. */
interface Answering {
  endpoint: RefusedEndpoint;
  /** Absent: that of chat completions. */
  shape?: ErrorShape | undefined;
}

export function errorAnswer(error: unknown, gateway: Gateway, { endpoint, shape = chatErrors }: Answering): Response {
  if (error instanceof MethodNotAllowedError) {
    return jsonResponse({ detail: "Method Not Allowed" }, { status: 405, headers: error.headers });
  }
  const gatewayError = error instanceof GatewayError ? error : internalError(error, gateway);
  countRequest(gatewayError.status, gatewayError.code);
  if (gatewayError.status >= 500)
    gateway.log.debug({ event: "refused", code: gatewayError.code, reason: String(gatewayError.cause ?? "") });
  const headers = rejectionHeaders(gatewayError);
  noteRefusal({ thrown: error, error: gatewayError, endpoint, headers: { ...gatewayError.headers, ...headers } }, gateway);
  return shape.response(gatewayError, headers, null);
}

/** The error with which an accepted request ends. A refusal at that point is too late, and so our bug. */
export function endingError(error: unknown, gateway: Pick<Gateway, "log">): GatewayError<EndingErrorCode> {
  return isEnding(error) ? error : internalError(error, gateway);
}

function isEnding(error: unknown): error is GatewayError<EndingErrorCode> {
  return error instanceof GatewayError && endingErrorCodes.some((code) => code === error.code);
}

function internalError(error: unknown, { log }: Pick<Gateway, "log">): GatewayError<"internal_error"> {
  log.error(
    { event: "internal_error", reason: error instanceof Error ? error.stack : String(error) },
    "A request failed unexpectedly",
  );
  return new GatewayError("internal_error", { cause: error });
}

function rejectionHeaders(error: GatewayError): Record<string, string> {
  if (!(error instanceof RefusedError)) return {};
  return {
    ...(error.window === null ? {} : windowHeaders(error.window)),
    ...(error.retryAfterMs === null ? {} : retryHeaders(error.retryAfterMs)),
  };
}
