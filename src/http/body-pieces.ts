import { withDeadline, type Clock } from "../kernel/clock.ts";
import { BodyReader } from "./body-reader.ts";
import { isEncoded } from "./content-coding.ts";
import { declaredBytes } from "./declared-bytes.ts";
import { drainRequest } from "./drain-request.ts";

/** The errors of an API, in its own words. */
export interface BodyErrors {
  encoded(): Error;
  incomplete(): Error;
  tooLarge(bytesMax: number): Error;
}

interface Options {
  clock: Clock;
  bytesMax: number;
  withinMs: number;
  errors: BodyErrors;
  /** Receives the declared length, then the length so far. */
  count?: (bytes: number) => void;
  /** Waits until the next piece may be read. Absent: the body is small. */
  throttle?: (piece: Uint8Array) => Promise<void>;
}

/**
 * The body as it arrives, in pieces of at least one byte. A declared length above the bound is refused before any byte is read.
 * @throws one of `errors`; what `count` throws
 */
export async function* bodyPieces(
  request: Request,
  { clock, bytesMax, withinMs, errors, count, throttle }: Options,
): AsyncGenerator<Uint8Array> {
  if (isEncoded(request)) throw errors.encoded();
  const declared = declaredBytes(request) ?? 0;
  if (declared > bytesMax) throw errors.tooLarge(bytesMax);
  count?.(declared);
  if (request.body === null) return;
  const reader = new BodyReader(request.body);
  const endsAt = clock.monotonic() + withinMs;
  let ended = false;
  try {
    for (let bytes = 0; ;) {
      const next = withDeadline(clock, endsAt - clock.monotonic(), "The request body", reader.next());
      const piece = await next.catch(() => Promise.reject(errors.incomplete()));
      ended = piece === null;
      if (piece === null) return;
      bytes += piece.length;
      if (bytes > bytesMax) {
        ended = true;
        await drainRequest(request, clock, reader);
        throw errors.tooLarge(bytesMax);
      }
      count?.(bytes);
      yield piece;
      await throttle?.(piece);
    }
  } finally {
    if (!ended) reader.discard();
  }
}
