/**
 * A value that only `reveal` shows: printing, JSON and inspection give `[secret]`. It prevents secrets from being logged by mistake; it
 * does not keep them out of memory.
 */

/** Only `reveal` gives the value. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "[secret]";
  }

  toJSON(): string {
    return "[secret]";
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return "[secret]";
  }
}
