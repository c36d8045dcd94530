/**
 * Tells gateways when the counters do not answer, so that they decide nothing with their blocks either: without blocks they would hear of it
 * by their next question.
 */
import type { Bus } from "../../../backing/bus.ts";
import type { Counters } from "../../../backing/counters.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { countersWatchMs } from "../limits.ts";

interface WatchParts {
  bus: Pick<Bus, "broadcast">;
  counters: Pick<Counters, "now">;
  clock: Clock;
}

export class CountersWatch {
  readonly #parts: WatchParts;
  /** Monotonic ms: until then a block of this worker may be in use. */
  #until = -Infinity;
  #isWatching = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** A block was lent: the counters are asked several times a second until its end. */
  lent(lifeMs: number): void {
    this.#until = Math.max(this.#until, this.#parts.clock.monotonic() + lifeMs);
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#watchSoon();
  }

  /** The counters did not answer. */
  failed(): void {
    this.#parts.bus.broadcast("counters-lost");
  }

  #watchSoon(): void {
    this.#parts.clock.after(countersWatchMs, () => void this.#watch());
  }

  async #watch(): Promise<void> {
    const { counters, clock } = this.#parts;
    this.#isWatching = clock.monotonic() < this.#until;
    if (!this.#isWatching) return;
    await counters.now().catch(() => this.failed());
    this.#watchSoon();
  }
}
