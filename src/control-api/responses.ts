/**
 * Errors and progress as answers of the control API. An error is `{error: {code, field, message}}` with the status of its code. A long
 * operation streams `{"checked": {…}}` for each part, then `{"result": {…}}` or `{"error": {…}}`, one line each; it continues if the
 * client disconnects.
 */
import { LimitReachedError, retryAfterHeader, DomainError, errorStatuses, unexpectedError } from "../accounts/errors.ts";
import { MethodNotAllowedError } from "../http/router.ts";
import { jsonResponse } from "../kernel/json.ts";
import type { Logger } from "../kernel/log.ts";

/** Any error as the control API's error body. */
export function errorResponse(error: unknown, log: Logger): Response {
  if (error instanceof MethodNotAllowedError) {
    const message = `Cannot ${error.method} this: it takes ${error.allowed.join(" and ")}`;
    return written(new DomainError("method_not_allowed", message), error.headers);
  }
  if (error instanceof LimitReachedError) return written(limitError(error), retryAfterHeader(error));
  const known = error instanceof DomainError ? error : unexpectedError(error, { log, event: "control.failed" });
  return written(known, headersOf(known));
}

const ndjson = "application/x-ndjson";

/** Whether the client asked for progress. */
export function wantsProgress(request: Request): boolean {
  return request.headers.get("accept") === ndjson;
}

/** @param act reports each part as it ends, and resolves with the result */
export function streamProgress(act: (report: (part: unknown) => void) => Promise<unknown>, log: Logger): Response {
  const lines = new TransformStream<Uint8Array, Uint8Array>();
  const writer = lines.writable.getWriter();
  const encoder = new TextEncoder();
  /** The operation continues if the client disconnects. */
  const write = (line: unknown): void => void writer.write(encoder.encode(`${JSON.stringify(line)}\n`)).catch(() => {});
  act((checked) => write({ checked }))
    .then((result) => write({ result }))
    .catch(async (error: unknown) => write(await errorResponse(error, log).json()))
    .finally(() => writer.close().catch(() => {}));
  return new Response(lines.readable, {
    headers: { "content-type": ndjson, "cache-control": "no-store", "x-content-type-options": "nosniff" },
  });
}

function written({ code, field, message }: DomainError, headers: Record<string, string>): Response {
  const status = errorStatuses[code];
  return jsonResponse({ error: { code, field, message } }, { status, headers: { "cache-control": "no-store", ...headers } });
}

function limitError({ status, message }: LimitReachedError): DomainError {
  return new DomainError(status === 429 ? "limit_reached" : "unavailable", message);
}

/** A slow sender would go on after the answer. */
function headersOf({ code }: DomainError): Record<string, string> {
  if (code === "body_too_slow") return { connection: "close" };
  return code === "rate_limited" ? { "retry-after": "1" } : {};
}
