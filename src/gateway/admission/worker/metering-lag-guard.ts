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
        .then(({ messages }) => messages === 0 && this.#moved())
        .catch(() => {})
        .finally(() => this.#poll());
    });
  }
}
