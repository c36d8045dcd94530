/** Any error as the control API's error body. */
import type { Logger } from "../kernel/log.ts";
import { LimitReachedError, retryAfterHeader, DomainError, errorStatuses, unexpectedError } from "../accounts/errors.ts";
import { jsonResponse } from "../kernel/json.ts";
import { MethodNotAllowedError } from "../http/router.ts";

/** `{error: {code, field, message}}` with the status of the code. */
export function errorResponse(error: unknown, log: Logger): Response {
  if (error instanceof MethodNotAllowedError) {
    const message = `Cannot ${error.method} this: it takes ${error.allowed.join(" and ")}`;
    return written(new DomainError("method_not_allowed", message), error.headers);
  }
  if (error instanceof LimitReachedError) return written(limitError(error), retryAfterHeader(error));
  const known = error instanceof DomainError ? error : unexpectedError(error, { log, event: "control.failed" });
  return written(known, headersOf(known));
}

/** Whoever sends slowly would go on after the answer. */
function headersOf({ code }: DomainError): Record<string, string> {
  if (code === "body_too_slow") return { connection: "close" };
  return code === "rate_limited" ? { "retry-after": "1" } : {};
}

function written({ code, field, message }: DomainError, headers: Record<string, string>): Response {
  const status = errorStatuses[code];
  return jsonResponse({ error: { code, field, message } }, { status, headers: { "cache-control": "no-store", ...headers } });
}

function limitError({ status, message }: LimitReachedError): DomainError {
  return new DomainError(status === 429 ? "limit_reached" : "unavailable", message);
}
