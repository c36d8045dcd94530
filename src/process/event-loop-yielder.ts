/**
 * Lets other work of the thread run during a long computation. The computation calls it between its steps.
 */
import type { Clock } from "../kernel/clock.ts";
import { turnMicroseconds } from "./limits.ts";

/** Use one per computation. */
export class EventLoopYielder {
  readonly #clock: Clock;
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonic();
  }

  /** Call between steps of a few milliseconds at most. Takes no time unless the current turn of the event loop is long. */
  async yieldIfDue(): Promise<void> {
    if (this.#clock.monotonic() - this.#sinceMs < turnMicroseconds / 1_000) return;
    await new Promise<void>((resolve) => void this.#clock.endOfTurn(resolve));
    this.#sinceMs = this.#clock.monotonic();
  }
}
