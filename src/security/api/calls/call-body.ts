import { bodyTooSlow, DomainError } from "../../../accounts/errors.ts";
import type { ByteLease } from "../../../accounts/quotas/byte-budget.ts";
import { bodyPieces, type BodyErrors } from "../../../http/body-pieces.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { toolsBodyMs } from "../../limits.ts";

interface Options {
  clock: Clock;
  bytesMax: number;
  /** Counts the body's bytes until its reader disposes of it. */
  lease: ByteLease;
  throttle?: (piece: Uint8Array) => Promise<void>;
}

const errors: BodyErrors = {
  encoded: () => new DomainError("invalid_body", "The body is compressed: send it as it is"),
  incomplete: () => new DomainError("invalid_body", "The body did not arrive in full and in time: send it again"),
  tooSlow: () => bodyTooSlow("body"),
  tooLarge: (bytesMax) => new DomainError("body_too_large", `The body is too large: send at most ${bytesMax} bytes`),
};

/** @throws DomainError invalid_body, body_too_large; LimitReachedError */
export function callBody(request: Request, { lease, ...options }: Options): AsyncGenerator<Uint8Array> {
  const count = (bytes: number): void => {
    if (bytes > lease.bytes) lease.grow(bytes - lease.bytes);
  };
  return bodyPieces(request, { ...options, withinMs: toolsBodyMs, errors, count });
}
