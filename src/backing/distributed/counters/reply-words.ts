/** Reads the words of a script's reply one after the other. What is not there is a fault of ours, told as an exception. */
export class ReplyWords {
  readonly #words: readonly string[];
  #next = 0;

  constructor(words: readonly string[]) {
    this.#words = words;
  }

  text(): string {
    const word = this.#words[this.#next++];
    if (word === undefined) throw new Error(`Cannot read a script's reply "${this.#words.join("|")}": it ends too soon`);
    return word;
  }

  number(): number {
    const number = Number(this.text());
    if (!Number.isSafeInteger(number))
      throw new Error(`Cannot read a script's reply "${this.#words.join("|")}": no whole number`);
    return number;
  }

  /** @throws SyntaxError when it is no whole number */
  nano(): bigint {
    return BigInt(this.text());
  }

  get atEnd(): boolean {
    return this.#next >= this.#words.length;
  }
}
