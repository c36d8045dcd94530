/** Reads a request's body within its limits of size and time, before anything in it is looked at. */
import type { Caller } from "../../admission/client/client.ts";
import { DeadlineError, withDeadline, type Clock } from "../../../kernel/clock.ts";
import { GatewayError } from "../../../kernel/errors.ts";
import { bodyBytesMax } from "../../limits.ts";
import type { ByteLease } from "../../../accounts/quotas/byte-budget.ts";
import { BodyReader } from "../../../http/body-reader.ts";
import { isEncoded } from "../../../http/content-coding.ts";
import { declaredBytes } from "../../../http/declared-bytes.ts";
import { asGatewayError } from "./load-limits.ts";
import { drainRequest } from "../../../http/drain-request.ts";
import { invalidRequest } from "../../../http/bad-request.ts";

interface ReadBodyOptions {
  clock: Clock;
  /** The time in which the whole body must arrive. */
  bodyMs: number;
  /** What the body is counted in, by its declared length or else as it arrives. */
  lease: ByteLease;
  /** Who is told where that is too much. */
  caller: Caller;
}

/**
 * The body's bytes, at most 8 MiB.
 * @throws GatewayError request_too_large, at once where Content-Length tells; rate_limited or billing_unavailable where too much is
 * under way, before a byte of it is read where Content-Length tells; invalid_request for an encoded body, and for
 * one that did not arrive in full and in time
 */
export async function readBody(request: Request, { clock, bodyMs, lease, caller }: ReadBodyOptions): Promise<Uint8Array> {
  const declared = declaredBytes(request);
  if (declared !== null && declared > bodyBytesMax) throw await drained(request, clock, new GatewayError("request_too_large"));
  if (isEncoded(request))
    throw await drained(request, clock, invalidRequest(undefined, "The request body must not be compressed"));
  const reserve = (bytes: number): void => grow(lease, bytes, caller);
  reserve(declared ?? 0);
  // Where the length is known the stream is not even asked for: the server makes one for who asks.
  const stream = declared === null ? request.body : null;
  const reader = stream === null ? null : new BodyReader(stream);
  try {
    const reading = reader ? reader.readUpTo(bodyBytesMax, reserve) : wholeBody(request);
    const body = await withDeadline(clock, bodyMs, "The request body", reading);
    if (body !== null && body.length <= bodyBytesMax) return body;
  } catch (error) {
    reader?.discard();
    if (error instanceof GatewayError) throw error;
    throw invalidRequest(
      undefined,
      error instanceof DeadlineError ? "The request body did not arrive in time" : "The request body did not arrive in full",
    );
  }
  throw await drained(request, clock, new GatewayError("request_too_large"), reader);
}

function grow(lease: ByteLease, bytes: number, caller: Caller): void {
  try {
    lease.grow(bytes);
  } catch (error) {
    throw asGatewayError(error, caller);
  }
}

/** Twice as fast as a reader where the server knows how much comes: it copies nothing (measured on Bun). */
async function wholeBody(request: Request): Promise<Uint8Array> {
  return new Uint8Array(await request.arrayBuffer());
}

async function drained(
  request: Request,
  clock: Clock,
  error: GatewayError,
  reader: BodyReader | null = null,
): Promise<GatewayError> {
  await drainRequest(request, clock, reader);
  return error;
}
