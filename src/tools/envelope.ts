/** The two bodies of the tools API. They have no further keys; the request's id is in the header `X-Request-Id`. */
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

/** What an operation ended with, whichever way it was called. */
export interface Answer {
  /** 200; 400, 401, 404, 405 or 500 for a failure. */
  status: number;
  body: Success | Failure;
}

export function failure(status: number, error: string): Answer {
  return { status, body: { success: false, error } };
}
