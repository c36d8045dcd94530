import { randomFrom } from "../support/random.ts";

/** The random numbers of a run, derived from its seed. */
export class Chance {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomFrom(seed);
  }

  /** From 0 to below 1. */
  next(): number {
    return this.#next();
  }

  /** A whole number below `count`. */
  below(count: number): number {
    return Math.floor(this.#next() * count);
  }

  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  happens(probability: number): boolean {
    return this.#next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const one = list[this.below(list.length)];
    if (one === undefined) throw new RangeError("Cannot pick from nothing");
    return one;
  }
}
