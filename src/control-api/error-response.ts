/** Any error as the control API's error body. */
import { DeadlineError } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { LimitReachedError, retryAfter } from "../accounts/quotas/limit-reached.ts";
import { jsonResponse } from "../kernel/json-response.ts";
import { DomainError, errorStatuses } from "../accounts/errors.ts";
import { MethodNotAllowedError } from "../http/router.ts";

/** Connection lost or refused, and statements that PostgreSQL gave up: the same request may succeed later. */
const passing = /^(CONNECT|ECONN|57014|57P0|55P03|40001|40P01|53)/;

/** `{error: {code, field, message}}` with the status of the code. */
export function errorResponse(error: unknown, log: Logger): Response {
  if (error instanceof MethodNotAllowedError) {
    const message = `Cannot ${error.method} this: it takes ${error.allowed.join(" and ")}`;
    return written(new DomainError("method_not_allowed", message), error.headers);
  }
  if (error instanceof LimitReachedError) return written(limitError(error), retryAfter(error));
  const known = error instanceof DomainError ? error : unexpected(error, log);
  return written(known, known.code === "rate_limited" ? { "retry-after": "1" } : {});
}

function written({ code, field, message }: DomainError, headers: Record<string, string>): Response {
  const status = errorStatuses[code];
  return jsonResponse({ error: { code, field, message } }, { status, headers: { "cache-control": "no-store", ...headers } });
}

function limitError({ status, message }: LimitReachedError): DomainError {
  return new DomainError(status === 429 ? "limit_reached" : "unavailable", message);
}

function unexpected(error: unknown, log: Logger): DomainError {
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = "code" in cause ? String(cause.code) : "";
  log.error({ event: "control.failed", name: cause.name, code, stack: cause.stack }, "A control request failed");
  if (error instanceof DeadlineError || passing.test(code)) {
    const message = "The database did not answer; whether a change was made is not known, so look before trying again";
    return new DomainError("unavailable", message);
  }
  return new DomainError("internal_error", "An unexpected error occurred");
}
