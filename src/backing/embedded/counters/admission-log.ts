/** The times at which a key's requests of the last minute were admitted: an exact log, ascending, in milliseconds. */
import type { RateWindow } from "../../counters.ts";
import { rateWindowMs } from "../../limits.ts";

/** Places of a window that are lent to gateways, and when the first of them leave it. */
export interface LentPlaces {
  places: number;
  leaveAt: number;
}

export const noneLent: LentPlaces = { places: 0, leaveAt: Infinity };

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

  /** Adds the times of further requests, ascending. */
  insert(times: readonly number[]): void {
    const [first] = times;
    if (first === undefined) return;
    const later = this.#times.length - this.#times.findLastIndex((time) => time <= first) - 1;
    const tail = later === 0 ? times : [...this.#times.splice(-later), ...times].toSorted((a, b) => a - b);
    for (const time of tail) this.#times.push(time);
  }

  untilOldestLeaves(clockMs: number, { leaveAt }: LentPlaces = noneLent): number {
    const leavesAt = Math.min(leaveAt, this.count === 0 ? Infinity : this.#oldest() + rateWindowMs);
    return leavesAt === Infinity ? 0 : leavesAt - clockMs;
  }

  shown(requestsPerMinute: number, clockMs: number, lent: LentPlaces = noneLent): RateWindow {
    const remaining = Math.max(0, requestsPerMinute - this.count - lent.places);
    return { remaining, resetMs: this.untilOldestLeaves(clockMs, lent) };
  }

  #oldest(): number {
    return this.#times[this.#first] ?? 0;
  }
}
