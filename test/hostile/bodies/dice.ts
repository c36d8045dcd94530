/** Seeded random choices for making bodies. */
import { randomFrom, shuffled } from "../../support/random.ts";

export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.#random() * end);
  }

  /** Returns true once in `times` calls, on average. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }

  list<T>(lengthMax: number, make: () => T): T[] {
    return Array.from({ length: this.below(lengthMax + 1) }, make);
  }

  shuffled<T>(items: readonly T[]): T[] {
    return shuffled(items, this.#random);
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }
}
