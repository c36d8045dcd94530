/**
 * One timer that checks the deadlines of all calls and streams, at most `timerStepMs` late. A timer for each would use more memory per
 * stream than all its other deadline state. A listener that throws ends only itself.
 */
import type { Clock } from "../../../kernel/clock.ts";
import { timerStepMs } from "../../limits.ts";

export interface TimerListener {
  /** Called repeatedly, at most `timerStepMs` late, until it throws: the others go on. @param nowMs monotonic */
  look(nowMs: number): void;
}

const sharedTimers = new WeakMap<Clock, SharedTimer>();

/** One for each clock, and so one in a process. */
export function sharedTimerOf(clock: Clock): SharedTimer {
  const known = sharedTimers.get(clock) ?? new SharedTimer(clock);
  sharedTimers.set(clock, known);
  return known;
}

export class SharedTimer {
  readonly #clock: Clock;
  readonly #waiting = new Set<TimerListener>();
  #cancelTimer = (): void => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(one: TimerListener): void {
    if (this.#waiting.size === 0) this.#setTimer();
    this.#waiting.add(one);
  }

  delete(one: TimerListener): void {
    if (this.#waiting.delete(one) && this.#waiting.size === 0) this.#cancelTimer();
  }

  #setTimer(): void {
    this.#cancelTimer = this.#clock.after(timerStepMs, () => {
      const now = this.#clock.monotonic();
      let failure: { error: unknown } | null = null;
      for (const one of this.#waiting) {
        try {
          one.look(now);
        } catch (error) {
          this.#waiting.delete(one);
          failure ??= { error };
        }
      }
      if (this.#waiting.size > 0) this.#setTimer();
      if (failure !== null) throw failure.error;
    });
  }
}
