/** Reads a function's reply, texts and whole numbers, one after the other. What is not there is a fault of ours, told as an exception. */
export type Word = string | number;

export class ReplyWords {
  readonly #words: readonly Word[];
  #next = 0;

  constructor(words: readonly Word[]) {
    this.#words = words;
  }

  text(): string {
    return String(this.#take());
  }

  number(): number {
    const number = Number(this.#take());
    if (!Number.isSafeInteger(number)) throw this.#fault("no whole number");
    return number;
  }

  /** @throws SyntaxError, RangeError when it is no whole number */
  nano(): bigint {
    return BigInt(this.#take());
  }

  get atEnd(): boolean {
    return this.#next >= this.#words.length;
  }

  #take(): Word {
    const word = this.#words[this.#next++];
    if (word === undefined) throw this.#fault("it ends too soon");
    return word;
  }

  #fault(what: string): Error {
    return new Error(`Cannot read a function's reply "${this.#words.join("|")}" at word ${this.#next}: ${what}`);
  }
}
