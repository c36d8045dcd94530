import type { Clock } from "../kernel/clock.ts";
import { turnMicroseconds } from "./limits.ts";

/** Lets everything else of the thread have its turn while much is computed. */
export class EventLoopYielder {
  readonly #clock: Clock;
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonic();
  }

  /** To be awaited between steps of a few milliseconds at most; takes no time unless the present turn has been long. */
  async yieldIfDue(): Promise<void> {
    if (this.#clock.monotonic() - this.#sinceMs < turnMicroseconds / 1_000) return;
    await new Promise<void>((resolve) => void this.#clock.endOfTurn(resolve));
    this.#sinceMs = this.#clock.monotonic();
  }
}
