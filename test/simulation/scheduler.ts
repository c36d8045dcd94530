/**
 * Virtual time. Whatever waits stands in one queue, and each step runs one thing to the point where all of it waits again: what a
 * crash can come between. Of things that are due at one moment, chance says which is first.
 */
import { drainMicrotasks } from "bun:jsc";
import type { Chance } from "./chance.ts";

/** Who a thing in the queue belongs to: of the dead nothing runs any more, of the frozen it waits. */
export interface Owner {
  readonly isDead: boolean;
  /** Milliseconds of true time. */
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

  /** @returns what cancels it */
  plan(inMs: number, owner: Owner | null, run: () => void): () => void {
    const planned: Planned = { at: this.now + Math.max(0, inMs), tie: this.#chance.next(), owner, run };
    this.#push(planned);
    return () => void (planned.run = null);
  }

  /** Everything that is due up to that time, in `ms` from now. */
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
    if (++this.steps > stepsMax) throw new Error(`The simulation did not come to rest within ${stepsMax} steps`);
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
