/** A point in time that moves with every chunk of a stream and costs no timer for doing so. */
import type { Clock } from "../kernel/clock.ts";

export class MovingDeadline implements Disposable {
  readonly #clock: Clock;
  readonly #passed: () => void;
  #at = Infinity;
  #timerAt = Infinity;
  #cancel: (() => void) | null = null;
  #disposed = false;

  /** @param passed called once, when the deadline is reached before it was moved on or disposed */
  constructor(clock: Clock, passed: () => void) {
    this.#clock = clock;
    this.#passed = passed;
  }

  /** @param atMs monotonic milliseconds */
  move(atMs: number): void {
    if (this.#disposed) return;
    this.#at = atMs;
    if (atMs < this.#timerAt) this.#arm();
  }

  #arm(): void {
    this.#cancel?.();
    this.#timerAt = this.#at;
    this.#cancel = this.#clock.after(Math.max(0, this.#at - this.#clock.monotonic()), () => this.#look());
  }

  /** The timer was set for an earlier deadline than the one that stands: look again then. */
  #look(): void {
    this.#cancel = null;
    this.#timerAt = Infinity;
    if (this.#at === Infinity) return;
    if (this.#clock.monotonic() < this.#at) return this.#arm();
    this.#at = Infinity;
    this.#passed();
  }

  /** It passes no more, and cannot be moved again. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#cancel?.();
    this.#cancel = null;
  }
}
