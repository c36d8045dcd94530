/** The two bodies of the tools API. They have no further keys; the request's id is in the header `X-Request-Id`. */
import { retryAfter, type LimitReachedError } from "../../../accounts/quotas/limit-reached.ts";
import { Type, type Static, type TSchema } from "@sinclair/typebox";

export interface Success {
  success: true;
  data: Record<string, unknown>;
  message: string;
}

export const Failure = Type.Object({
  success: Type.Literal(false, { description: "It was not done" }),
  error: Type.String({ description: "What went wrong, as a sentence for people" }),
});
export type Failure = Static<typeof Failure>;

export function successOf<Data extends TSchema>(data: Data) {
  return Type.Object({
    success: Type.Literal(true, { description: "It was done" }),
    data: { description: "What was asked for", ...data },
    message: Type.String({ description: "What was done, as a sentence for people" }),
  });
}

/** What is written as JSON. */
export interface Written {
  /** 200; 400, 401, 404, 405, 429, 500 or 503 for a failure. */
  status: number;
  body: object;
  /** Where the same call may succeed later: the header that says when. */
  headers?: Record<string, string>;
}

/** What an operation ended with, however it was called. */
export interface Answer extends Written {
  body: Success | Failure;
}

export function failure(status: number, error: string): Answer {
  return { status, body: { success: false, error } };
}

/** A limit was reached: of the caller's own 429, of all together 503, and when to try again. */
export function limitReached(error: LimitReachedError): Answer {
  return { ...failure(error.status, error.message), headers: retryAfter(error) };
}
