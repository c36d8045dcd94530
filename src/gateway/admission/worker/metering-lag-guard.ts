/**
 * Refuses admissions when charges no longer reach the ledger: a backlog without progress for five minutes closes admission
 * ("request refused rather than served unmetered").
 */
import type { Bus } from "../../../backing/bus.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { backlogPollMs, meteringLagMsMax } from "../../limits.ts";

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

  /** Since when settlements wait, or cannot be counted, without one being booked. Milliseconds; 0: none waits. */
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
