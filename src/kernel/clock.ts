/**
 * Time, and what ends a wait. Time comes through a Clock, so that tests need not wait: the wall clock, a monotonic clock, timers, and UTC
 * days and months. A deadline rejects its promise and does not stop the work behind it; a `StopSignal` asks the work to stop. Code with
 * thousands of concurrent deadlines uses one timer for all of them (`sharedTimerOf`).
 */

export interface Clock {
  /** Wall clock in milliseconds since the epoch, UTC. */
  now(): number;
  /** Monotonic milliseconds; only differences are meaningful. */
  monotonic(): number;
  /** Calls back once, after `ms`. @returns a function that cancels it */
  after(ms: number, callback: () => void): () => void;
  /** Calls back once, after the current turn of the event loop. @returns a function that cancels it */
  endOfTurn(callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  endOfTurn(callback) {
    const planned = setImmediate(callback);
    return () => clearImmediate(planned);
  },
};

export class DeadlineError extends Error {
  override name = "DeadlineError";
}

/** Waits `ms`, or until `signal` aborts; never rejects. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      cancel();
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const cancel = clock.after(ms, finish);
    signal?.addEventListener("abort", finish);
  });
}

/** Waits until a time of the monotonic clock, or until `signal` aborts; a past time needs no wait. Never rejects. */
export async function sleepUntil(clock: Clock, monotonicMs: number, signal?: AbortSignal): Promise<void> {
  const ms = monotonicMs - clock.monotonic();
  if (ms > 0) await sleep(clock, ms, signal);
}

/**
 * @returns the promise's outcome, or a rejection with DeadlineError after `ms`; the work continues, and its outcome is then unknown
 * @param what named in the error, such as "Redis script"
 */
export function withDeadline<T>(clock: Clock, ms: number, what: string, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new DeadlineError(`${what} did not end within ${ms} ms`)));
    promise.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: unknown) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** A UTC calendar month such as `2026-11`. */
export type Month = string;

/** Cached: every batch of admissions needs the month, and it changes twelve times a year. */
let lastMonth = boundsOf("1970-01");

export function monthOf(ms: number): Month {
  if (!(ms >= lastMonth.startMs && ms < lastMonth.endMs)) lastMonth = boundsOf(new Date(ms).toISOString().slice(0, 7));
  return lastMonth.month;
}

/** First millisecond of the month and of the next one. */
export function monthBounds(month: Month): { startMs: number; endMs: number } {
  return month === lastMonth.month ? lastMonth : boundsOf(month);
}

/** Cached like the month itself. */
let lastPrevious: { of: Month; month: Month } = { of: "", month: "" };

export function previousMonth(month: Month): Month {
  if (month !== lastPrevious.of) lastPrevious = { of: month, month: isoTime(boundsOf(month).startMs - 1).slice(0, 7) };
  return lastPrevious.month;
}

const dayMs = 86_400_000;

/** First millisecond of the UTC day. */
export function dayOf(ms: number): number {
  return ms - (ms % dayMs);
}

/** First millisecond of the UTC day after the one that begins at `startMs`. */
export function dayAfter(startMs: number): number {
  return startMs + dayMs;
}

/** ISO 8601 in UTC with Z. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function boundsOf(month: Month): { month: Month; startMs: number; endMs: number } {
  const [year = 0, number = 1] = month.split("-").map(Number);
  return { month, startMs: Date.UTC(year, number - 1, 1), endMs: Date.UTC(year, number, 1) };
}

// One timer that checks the deadlines of all calls and streams, at most `timerStepMs` late. One timer per deadline would use more memory
// per stream than all its other deadline state.

/** How late a deadline of a call or a stream may fire. */
export const timerStepMs = 500;

export interface TimerListener {
  /** Called repeatedly, at most `timerStepMs` late, until it throws; that does not affect the others. @param nowMs monotonic */
  look(nowMs: number): void;
}

const sharedTimers = new WeakMap<Clock, SharedTimer>();

/** One per clock, and so one per process. */
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

// Asks work to stop, and notifies one listener at a time. An AbortController serves any number of listeners, at a cost that each request
// would pay five times on the hot path.

/** Stops once; the listener may change. */
export class StopSignal {
  #stopped = false;
  #listener: (() => void) | null = null;

  get stopped(): boolean {
    return this.#stopped;
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener?.();
  }

  /** Calls `listener` at the stop, or at once after it. Replaces the previous listener; null removes it. */
  listen(listener: (() => void) | null): void {
    this.#listener = listener;
    if (this.#stopped) listener?.();
  }
}
