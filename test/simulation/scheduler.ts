/**
 * Virtual time. One queue holds all planned actions. Each step runs one action until all of its code waits again; crashes come only
 * between steps. The order of actions that are due at the same time is random.
 */
import { drainMicrotasks } from "bun:jsc";
import type { Chance } from "./chance.ts";

/** The owner of planned actions. The actions of a dead owner never run, those of a frozen owner wait. */
export interface Owner {
  readonly isDead: boolean;
  /** In milliseconds of true time. */
  readonly frozenUntil: number;
}

interface Planned {
  at: number;
  tie: number;
  owner: Owner | null;
  run: (() => void) | null;
}

const stepsMax = 3_000_000;
const thawLookMs = 250;

export class Scheduler {
  /** True time in milliseconds since the run began. */
  now = 0;
  steps = 0;
  readonly #chance: Chance;
  readonly #heap: Planned[] = [];

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** @returns a function that cancels it */
  plan(inMs: number, owner: Owner | null, run: () => void): () => void {
    const planned: Planned = { at: this.now + Math.max(0, inMs), tie: this.#chance.next(), owner, run };
    this.#push(planned);
    return () => void (planned.run = null);
  }

  /** Runs everything that is due within the next `ms`. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (let next = this.#heap[0]; next && next.at <= end; next = this.#heap[0]) this.#step(this.#pop());
    this.now = end;
  }

  #step(planned: Planned): void {
    const { owner, run } = planned;
    if (run === null || owner?.isDead) return;
    this.now = Math.max(this.now, planned.at);
    if (owner && owner.frozenUntil > this.now) {
      // It may thaw earlier than was planned.
      planned.at = Math.min(owner.frozenUntil, this.now + thawLookMs);
      return this.#push(planned);
    }
    if (++this.steps > stepsMax) throw new Error(`The simulation did not end within ${stepsMax} steps`);
    run();
    drainMicrotasks();
  }

  #push(planned: Planned): void {
    const heap = this.#heap;
    let place = heap.push(planned) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent];
      if (!above || !isBefore(planned, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = planned;
  }

  #pop(): Planned {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (!first || !last) throw new Error("Cannot take from an empty queue");
    if (heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(planned: Planned): void {
    const heap = this.#heap;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      const [left, right] = [heap[below], heap[below + 1]];
      if (left && right && isBefore(right, left)) below++;
      const least = heap[below];
      if (!least || !isBefore(least, planned)) break;
      heap[place] = least;
      place = below;
    }
    heap[place] = planned;
  }
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.tie < b.tie);
}
