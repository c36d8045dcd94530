/** A clock that only moves when a test moves it. */
import type { Clock } from "../../src/kernel/clock.ts";

interface Timer {
  at: number;
  callback: () => void;
}

export class ManualClock implements Clock {
  #nowMs: number;
  readonly #startedMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs: number = Date.UTC(2026, 10, 20, 12)) {
    this.#nowMs = startMs;
    this.#startedMs = startMs;
  }

  /** Timers that have not fired: one that remains at the end is a leak. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs - this.#startedMs;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#nowMs + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Turns of the event loop are real. */
  endOfTurn(callback: () => void): () => void {
    const planned = setImmediate(callback);
    return () => clearImmediate(planned);
  }

  /** Moves the time on and fires due timers in order; their callbacks may set further timers. */
  advance(ms: number): void {
    const end = this.#nowMs + ms;
    for (let due = this.#next(end); due; due = this.#next(end)) {
      this.#nowMs = Math.max(this.#nowMs, due.at);
      this.#timers.delete(due);
      due.callback();
    }
    this.#nowMs = end;
  }

  /** Like `advance`, but lets promises settle after each timer. */
  async pass(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    await settled();
    for (let due = this.#next(end); due; due = this.#next(end)) {
      this.advance(Math.max(0, due.at - this.#nowMs));
      await settled();
    }
    this.#nowMs = end;
    await settled();
  }

  #next(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) if (timer.at <= end && (!next || timer.at < next.at)) next = timer;
    return next;
  }
}

/** Turns of the event loop that one step may take: gathering a request, a look-up for it, its reply, and what follows. */
const turns = 5;

/** Lets everything settle that only waits for promises and turns of the event loop. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
