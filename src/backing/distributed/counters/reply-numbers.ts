/** Reads the numbers of a function's reply one after the other. */
import type { Word } from "./reply-words.ts";

export class ReplyNumbers {
  readonly #words: readonly Word[];
  #next = 0;

  constructor(words: readonly Word[]) {
    this.#words = words;
  }

  /** @throws RangeError when the reply has ended, TypeError when it tells something else: faults of ours */
  number(): number {
    const number = this.#words[this.#next++];
    if (typeof number === "number") return number;
    const at = `Cannot read number ${this.#next} of a function's reply`;
    throw number === undefined ? new RangeError(`${at}: it ends too soon`) : new TypeError(`${at}: it is a ${typeof number}`);
  }

  /** @throws as `number` */
  nano(): bigint {
    return BigInt(this.number());
  }
}
