/**
 * How many requests a second a process answered in the last minute. The counter that exists for /metrics is read every ten seconds, so that
 * a request costs nothing more; a rate since the last question would depend on who asked before.
 */
import type { Clock } from "../kernel/clock.ts";
import { rateSampleMs, rateWindowMs } from "./limits.ts";

interface Sample {
  atMs: number;
  count: number;
}

interface RateParts {
  clock: Clock;
  /** How many were answered since the process started. */
  read: () => Promise<number>;
}

export class RequestRate implements Disposable {
  readonly #parts: RateParts;
  /** The oldest first: the last one before the window, and those in it. */
  readonly #samples: Sample[];
  #cancel: () => void;

  constructor(parts: RateParts) {
    this.#parts = parts;
    this.#samples = [{ atMs: parts.clock.monotonic(), count: 0 }];
    this.#cancel = this.#next();
  }

  /** Of a process that is younger than the window, since it started. */
  async perSecond(): Promise<number> {
    const { atMs, count } = await this.#sample();
    const [first = { atMs, count }] = this.#samples;
    const seconds = (atMs - first.atMs) / 1_000;
    return seconds <= 0 ? 0 : Math.round(((count - first.count) / seconds) * 100) / 100;
  }

  #next(): () => void {
    return this.#parts.clock.after(rateSampleMs, () => {
      this.#cancel = this.#next();
      void this.#keep();
    });
  }

  /** Never rejects: a counter that cannot be read leaves a longer window. */
  async #keep(): Promise<void> {
    const sample = await this.#sample().catch(() => null);
    if (sample === null) return;
    this.#samples.push(sample);
    const [, second] = this.#samples;
    if (second !== undefined && second.atMs <= sample.atMs - rateWindowMs) this.#samples.shift();
  }

  async #sample(): Promise<Sample> {
    const count = await this.#parts.read();
    return { atMs: this.#parts.clock.monotonic(), count };
  }

  [Symbol.dispose](): void {
    this.#cancel();
  }
}
