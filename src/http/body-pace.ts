/** How a body keeps up with the least rate. Only the time counts in which the server waits for its bytes. */
import { DeadlineError, type Clock } from "../kernel/clock.ts";
import { bodyBytesPerSecondMin, bodyGraceMs } from "./limits.ts";

/** The body came more slowly than the least rate for longer than its grace, or others needed its place. */
export class SlowBodyError extends Error {
  override name = "SlowBodyError";
}

export class BodyPace {
  readonly #clock: Clock;
  /** Until the present wait. Bytes make it up, but earn no time in advance. */
  #behindMs = 0;
  #waitsSince: number | null = null;
  #refuse: ((error: SlowBodyError) => void) | null = null;
  #isEnded = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How much later its bytes have come than the least rate would bring them. */
  get behindMs(): number {
    return this.#behindMs + (this.#waitsSince === null ? 0 : this.#clock.monotonic() - this.#waitsSince);
  }

  /** Ends the body: the present wait, or else the next one, rejects. */
  end(): void {
    this.#isEnded = true;
    this.#refuse?.(new SlowBodyError());
  }

  /** @throws SlowBodyError; DeadlineError after `withinMs`; what `piece` rejects with */
  async wait<Piece extends Uint8Array | null>(piece: Promise<Piece>, withinMs: number): Promise<Piece> {
    if (this.#isEnded) throw new SlowBodyError();
    const graceMs = Math.max(0, bodyGraceMs - this.#behindMs);
    const late = graceMs < withinMs ? new SlowBodyError() : new DeadlineError("The body did not arrive in time");
    this.#waitsSince = this.#clock.monotonic();
    const { promise, resolve, reject } = Promise.withResolvers<Piece>();
    const cancel = this.#clock.after(Math.min(graceMs, withinMs), () => reject(late));
    this.#refuse = reject;
    piece.then(resolve, reject);
    try {
      const arrived = await promise;
      const earnedMs = ((arrived?.length ?? 0) / bodyBytesPerSecondMin) * 1_000;
      this.#behindMs = Math.max(0, this.behindMs - earnedMs);
      return arrived;
    } finally {
      cancel();
      this.#refuse = null;
      this.#waitsSince = null;
    }
  }
}
