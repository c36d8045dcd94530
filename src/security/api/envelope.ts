/**
 * The two bodies of the tools API, success and failure. They have no other keys; the request's id is in the header `X-Request-Id`. Every
 * error becomes an answer that says what to change, when to call again, or that the service is at fault. 429 and 503 are additions to the
 * specification.
 */
import { Type, type Static, type TSchema } from "@sinclair/typebox";
import { DomainError, retryAfterHeader, LimitReachedError, unexpectedError } from "../../accounts/errors.ts";
import { MethodNotAllowedError } from "../../http/router.ts";
import type { Logger } from "../../kernel/log.ts";
import { SbomRefusal } from "../sboms/refusal.ts";

interface Success {
  success: true;
  data: Record<string, unknown>;
  message: string;
}

export const Failure = Type.Object({
  success: Type.Literal(false, { description: "The call failed" }),
  error: Type.String({ description: "What went wrong, as a sentence for people" }),
});
export type Failure = Static<typeof Failure>;

export function successOf<Data extends TSchema>(data: Data) {
  return Type.Object({
    success: Type.Literal(true, { description: "It was done" }),
    data: { description: "The result", ...data },
    message: Type.String({ description: "What was done, as a sentence for people" }),
  });
}

/** An answer in JSON, before headers. */
export interface Written {
  /** 200; 400, 401, 404, 405, 429, 500 or 503 for a failure. */
  status: number;
  body: object;
  /** The header that says how long to wait, if the same call may succeed later. */
  headers?: Record<string, string>;
}

/** The outcome of an operation, however it was called. */
export interface CallAnswer extends Written {
  body: Success | Failure;
}

export function failure(status: number, error: string): CallAnswer {
  return { status, body: { success: false, error } };
}

/** Turns any error into an answer. */
export function errorAnswer(error: unknown, log: Logger): CallAnswer {
  if (error instanceof MethodNotAllowedError) {
    const { method, path, allowed, headers } = error;
    return { ...failure(405, `Cannot ${method} ${path}: it takes ${allowed.join(" and ")}`), headers };
  }
  if (error instanceof DomainError) return failure(error.code === "unauthorized" ? 401 : 400, error.message);
  if (error instanceof SbomRefusal) return failure(400, error.message);
  if (error instanceof LimitReachedError) return limitReached(error);
  return failure(500, unexpectedError(error, { log, event: "tools.failed" }).message);
}

/** The answer for a reached limit: 429 for the caller's own, 503 for one that all callers share. */
function limitReached(error: LimitReachedError): CallAnswer {
  return { ...failure(error.status, error.message), headers: retryAfterHeader(error) };
}
