/** The times at which a key's requests of the last minute were admitted: an exact log, ascending, in milliseconds. */
import type { RateWindow } from "../../counters.ts";
import { rateWindowMs } from "../../limits.ts";

export class AdmissionLog {
  #times: number[] = [];
  /** Earlier times have left the window and wait to be removed. */
  #first = 0;

  get count(): number {
    return this.#times.length - this.#first;
  }

  get times(): readonly number[] {
    return this.#times.slice(this.#first);
  }

  /** 0 when there is none. */
  get newest(): number {
    return this.#times.at(-1) ?? 0;
  }

  /**
   * Drops times that have left the window. Returns the time under which an admission would be logged now: never before the newest
   * one, so that a clock that was set back frees no place.
   */
  advance(clockMs: number): number {
    const nowMs = Math.max(clockMs, this.newest);
    while (this.count > 0 && this.#oldest() <= nowMs - rateWindowMs) this.#first++;
    if (this.#first > this.#times.length / 2) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return nowMs;
  }

  /** @param atMs the result of `advance` */
  add(atMs: number): void {
    this.#times.push(atMs);
  }

  /** Adds times that are not known yet. A time in both lists is the same request, as often as it is in both. */
  merge(reported: readonly number[]): void {
    const known = this.times;
    const merged: number[] = [];
    let a = 0;
    let b = 0;
    for (;;) {
      const time = Math.min(known[a] ?? Infinity, reported[b] ?? Infinity);
      if (time === Infinity) break;
      if (known[a] === time) a++;
      if (reported[b] === time) b++;
      merged.push(time);
    }
    this.#times = merged;
    this.#first = 0;
  }

  untilOldestLeaves(clockMs: number): number {
    return this.count === 0 ? 0 : this.#oldest() + rateWindowMs - clockMs;
  }

  shown(requestsPerMinute: number, clockMs: number): RateWindow {
    return { remaining: Math.max(0, requestsPerMinute - this.count), resetMs: this.untilOldestLeaves(clockMs) };
  }

  #oldest(): number {
    return this.#times[this.#first] ?? 0;
  }
}
