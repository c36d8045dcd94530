/**
 * Who was refused, and with what. Beyond check 1 an endpoint knows its caller, and notes it with the error that it throws; where the error
 * is answered, the refusal is noted for its key. A call that goes well pays nothing for this. Only what Weir says itself is noted: texts of
 * the request, such as the id of a model that the catalog lacks, are left out of message and `param`. A wrong key is no one's: it is counted
 * without a key.
 */
import type { GatewayError } from "../../kernel/errors.ts";
import type { Caller } from "../admission/message.ts";
import type { RefusedEndpoint } from "../refusals/schema.ts";
import type { Gateway } from "./gateway.ts";

/** By the error. */
const callers = new WeakMap<object, Caller>();

/** Notes whose call an error refuses. @returns the error, to be thrown */
export function refusedTo(caller: Caller, error: unknown): unknown {
  if (error instanceof Error) callers.set(error, caller);
  return error;
}

/** Runs the rest of a call, whose caller is known. */
export async function asCaller<Result>(caller: Caller, work: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw refusedTo(caller, error);
  }
}

interface Refusal {
  /** What the endpoint threw. */
  thrown: unknown;
  /** What is answered. */
  error: GatewayError;
  endpoint: RefusedEndpoint;
  headers: Readonly<Record<string, string>>;
}

/** Never throws, and waits for nothing. */
export function noteRefusal({ thrown, error, endpoint, headers }: Refusal, { refused, models }: Gateway): void {
  const record = thrown instanceof Error ? callers.get(thrown)?.record : undefined;
  const { code, status, kept, model } = error;
  const retryAfter = headers["retry-after-ms"];
  refused.note({
    workspace: record?.workspace ?? null,
    key: record?.id ?? null,
    endpoint,
    code,
    status,
    model: model === null || models.find(model) === null ? null : model,
    ...kept,
    retryAfterMs: retryAfter === undefined ? null : Number(retryAfter),
  });
}
