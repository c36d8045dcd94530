/** Reads the elements of a function's reply, texts and whole numbers, one after the other. Anything else is our fault: it throws. */
export type ReplyElement = string | number;

export class ReplyReader {
  readonly #elements: readonly ReplyElement[];
  #next = 0;

  constructor(elements: readonly ReplyElement[]) {
    this.#elements = elements;
  }

  text(): string {
    return String(this.#take());
  }

  number(): number {
    const number = Number(this.#take());
    if (!Number.isSafeInteger(number)) throw this.#fault("not a whole number");
    return number;
  }

  /** @throws SyntaxError, RangeError when it is not a whole number */
  nano(): bigint {
    return BigInt(this.#take());
  }

  get atEnd(): boolean {
    return this.#next >= this.#elements.length;
  }

  #take(): ReplyElement {
    const element = this.#elements[this.#next++];
    if (element === undefined) throw this.#fault("it ends too soon");
    return element;
  }

  #fault(what: string): Error {
    return new Error(`Cannot read a function's reply "${this.#elements.join("|")}" at element ${this.#next}: ${what}`);
  }
}
