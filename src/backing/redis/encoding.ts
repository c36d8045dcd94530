/** The fields of the hash {w}:a, which holds the counters of a workspace (see ../counters.ts). */
import type { Month } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";

/** Of the workspace as a whole. */
export const headField = "head";

/** What is lent to gateways. */
export const lendingField = "lending";

/** Spent and held by the workspace in a month. */
export function monthField(month: Month): string {
  return `m:${month}`;
}

/** Spent and held by a key in a month. */
export function keyMonthField({ key, month }: { key: KeyId; month: Month }): string {
  return `k:${key}:${month}`;
}

/** Spent and held of a budget, in the period that it is in. */
export function budgetField(name: string): string {
  return `b:${name}`;
}

/** The name of the budget that has this field. */
export function budgetOf(field: string): string {
  return field.slice(2);
}

/** A key's rate window. After {w} and a colon it also names the list of its times. */
export function windowField(key: KeyId): string {
  return `n:${key}`;
}

/** The tag {w}, which every key of a workspace begins with: a Redis Cluster keeps them in one slot. */
export function baseName(workspace: WorkspaceId): string {
  return `{${workspace}}`;
}

/**
 * The arguments of a function that has many: all texts in one, each ended by a zero byte, and all numbers in one, as doubles.
 * An argument for each would cost both sides more than the function's own work.
 */
export interface Packing {
  texts: string[];
  /** Exact up to 2^53. Only limits are above that, which no sum reaches. */
  numbers: number[];
}

/** The numbers begin with the count of texts. Bytes are in the machine's own order, which is that of Redis: little-endian. */
export function packedArguments({ texts, numbers }: Packing): [texts: string, numbers: Buffer] {
  const packed = new Float64Array(1 + numbers.length);
  packed[0] = texts.length;
  packed.set(numbers, 1);
  return [`${texts.join("\0")}\0`, Buffer.from(packed.buffer)];
}

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
