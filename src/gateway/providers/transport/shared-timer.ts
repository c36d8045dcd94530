/**
 * One timer for all that wait for their time, however many they are and however often it moves: a timer each would cost a
 * stream more memory than all else that it needs for its deadlines.
 */
import type { Clock } from "../../../kernel/clock.ts";
import { lookMs } from "../../limits.ts";

export interface Waiting {
  /** Called again and again, at most `lookMs` late. @param nowMs monotonic */
  look(nowMs: number): void;
}

const lookouts = new WeakMap<Clock, Lookout>();

/** One for each clock, hence one in a process. */
export function lookoutOf(clock: Clock): Lookout {
  const known = lookouts.get(clock) ?? new Lookout(clock);
  lookouts.set(clock, known);
  return known;
}

export class Lookout {
  readonly #clock: Clock;
  readonly #waiting = new Set<Waiting>();
  #cancelTimer = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(one: Waiting): void {
    if (this.#waiting.size === 0) this.#setTimer();
    this.#waiting.add(one);
  }

  delete(one: Waiting): void {
    if (this.#waiting.delete(one) && this.#waiting.size === 0) this.#cancelTimer();
  }

  #setTimer(): void {
    this.#cancelTimer = this.#clock.after(lookMs, () => {
      const now = this.#clock.monotonic();
      for (const one of this.#waiting) one.look(now);
      if (this.#waiting.size > 0) this.#setTimer();
    });
  }
}
