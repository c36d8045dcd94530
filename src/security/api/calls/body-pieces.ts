/** The body of a call, piece by piece as it arrives: within its size, its time, and what may be under way together. */
import { BodyReader } from "../../../http/body-reader.ts";
import { isEncoded } from "../../../http/content-coding.ts";
import { declaredBytes } from "../../../http/declared-bytes.ts";
import { drainRequest } from "../../../http/drain-request.ts";
import { withDeadline, type Clock } from "../../../kernel/clock.ts";
import { toolsBodyMs } from "../../limits.ts";
import { DomainError } from "../../../accounts/errors.ts";
import type { ByteLease } from "../../../accounts/quotas/byte-budget.ts";

interface Options {
  clock: Clock;
  bytesMax: number;
  /** What the body is counted in, until who reads it has ended. */
  lease: ByteLease;
  /** Waits until the next piece may be read. Absent: the body is small. */
  throttle?: (piece: Uint8Array) => Promise<void>;
}

/**
 * Pieces, none of them empty. What is too large by its declared length is refused before a byte of it is read.
 * @throws DomainError when there is more, or not all of it in time; LimitReachedError
 */
export async function* bodyPieces(request: Request, { clock, bytesMax, lease, throttle }: Options): AsyncGenerator<Uint8Array> {
  if (isEncoded(request)) throw new DomainError("invalid_body", "The body is compressed: send it as it is");
  const declared = declaredBytes(request) ?? 0;
  if (declared > bytesMax) throw tooLarge(bytesMax);
  lease.grow(declared);
  if (request.body === null) return;
  const reader = new BodyReader(request.body);
  const endsAt = clock.monotonic() + toolsBodyMs;
  let ended = false;
  try {
    for (let bytes = 0; ;) {
      const piece = await withDeadline(clock, endsAt - clock.monotonic(), "The request body", reader.next()).catch(broken);
      ended = piece === null;
      if (piece === null) return;
      bytes += piece.length;
      if (bytes > bytesMax) {
        ended = true;
        await drainRequest(request, clock, reader);
        throw tooLarge(bytesMax);
      }
      if (bytes > lease.bytes) lease.grow(bytes - lease.bytes);
      yield piece;
      if (throttle) await throttle(piece);
    }
  } finally {
    if (!ended) reader.discard();
  }
}

function broken(): never {
  throw new DomainError("invalid_body", "The body did not arrive in full and in time: send it again");
}

function tooLarge(bytesMax: number): DomainError {
  return new DomainError("body_too_large", `The body is too large: send at most ${bytesMax} bytes`);
}
