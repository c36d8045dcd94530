/** The two bodies of the tools API. They have no other keys; the header `X-Request-Id` has the request's id. */
import { retryAfterHeader, type LimitReachedError } from "../../../accounts/quotas/limit-reached.ts";
import { Type, type Static, type TSchema } from "@sinclair/typebox";

export interface Success {
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

/** An answer in JSON. */
export interface Written {
  /** 200; 400, 401, 404, 405, 429, 500 or 503 for a failure. */
  status: number;
  body: object;
  /** The header with the time to wait, if the same call may succeed later. */
  headers?: Record<string, string>;
}

/** The outcome of an operation, however it was called. */
export interface CallAnswer extends Written {
  body: Success | Failure;
}

export function failure(status: number, error: string): CallAnswer {
  return { status, body: { success: false, error } };
}

/** The answer for a reached limit: 429 for the caller's own, 503 for one that all callers share. */
export function limitReached(error: LimitReachedError): CallAnswer {
  return { ...failure(error.status, error.message), headers: retryAfterHeader(error) };
}
