import type { Clock } from "../kernel/clock.ts";
import { BodyPace, SlowBodyError } from "./body-pace.ts";
import { BodyReader } from "./body-reader.ts";
import { isEncoded } from "./content-coding.ts";
import { declaredBytes } from "./declared-bytes.ts";
import { drainRequest } from "./drain-request.ts";

/** The errors of an API, in its own words. */
export interface BodyErrors {
  encoded(): Error;
  incomplete(): Error;
  /** Below `bodyBytesPerSecondMin` for longer than `bodyGraceMs`, or in the way of others. */
  tooSlow(): Error;
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
  /** Shows how the body keeps up, and can end it. */
  pace?: BodyPace;
}

/**
 * The body as it arrives, in pieces of at least one byte. A declared length above the bound is refused before any byte is read.
 * @throws one of `errors`; what `count` throws
 */
export async function* bodyPieces(
  request: Request,
  { clock, bytesMax, withinMs, errors, count, throttle, pace = new BodyPace(clock) }: Options,
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
      const piece = await pace.wait(reader.next(), endsAt - clock.monotonic()).catch((error: unknown) => {
        throw error instanceof SlowBodyError ? errors.tooSlow() : errors.incomplete();
      });
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
