/**
 * Two conditions under which nothing may be admitted. When charges no longer reach the ledger, a backlog without progress for five minutes
 * closes admission: a request is refused rather than served unmetered. When the counters do not answer, gateways learn it within half a
 * second and stop deciding with their blocks. Both check facts (waiting events, an answer of the counters) and not the health of processes,
 * which may be healthy and get nothing done.
 */
import type { Bus } from "../../../backing/bus.ts";
import type { Counters } from "../../../backing/counters.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { backlogPollMs, meteringLagMsMax } from "../../limits.ts";
import { countersWatchMs } from "../limits.ts";

/** Closes admission while settlements wait and none is booked. */
export class MeteringLagGuard implements Disposable {
  readonly #bus: Bus;
  readonly #clock: Clock;
  readonly #listening: Disposable;
  #movedAt: number;
  /** null: it could not be read. */
  #waiting: number | null = 0;
  #closed = false;
  #cancel = (): void => {};

  constructor(bus: Bus, clock: Clock) {
    this.#bus = bus;
    this.#clock = clock;
    this.#movedAt = clock.monotonic();
    this.#listening = bus.listen("settled", () => this.#moved());
    this.#poll();
  }

  behind(): boolean {
    return this.#clock.monotonic() - this.#movedAt > meteringLagMsMax;
  }

  /** The time since which settlements wait, or cannot be counted, without one being booked. Milliseconds; 0: none waits. */
  get lagMs(): number {
    return this.#waiting === 0 ? 0 : this.#clock.monotonic() - this.#movedAt;
  }

  /** Events of settlements that wait, as they were last counted. NaN: they could not be counted. */
  get waiting(): number {
    return this.#waiting ?? NaN;
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#cancel();
    this.#listening[Symbol.dispose]();
  }

  #moved(): void {
    this.#movedAt = this.#clock.monotonic();
  }

  #poll(): void {
    if (this.#closed) return;
    this.#cancel = this.#clock.after(backlogPollMs, () => {
      void this.#bus
        .backlog("settlements")
        .then(({ messages }) => {
          this.#waiting = messages;
          if (messages === 0) this.#moved();
        })
        .catch(() => void (this.#waiting = null))
        .finally(() => this.#poll());
    });
  }
}

interface WatchParts {
  bus: Pick<Bus, "broadcast">;
  counters: Pick<Counters, "now">;
  clock: Clock;
}

/**
 * Notifies gateways when the counters do not answer, so that they stop deciding with their blocks: without blocks, their next request would
 * show it.
 */
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
