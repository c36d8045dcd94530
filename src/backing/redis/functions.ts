/**
 * Our Lua functions in Redis, and how they are called: their library, the names under which a workspace's counters are stored, the packing
 * of arguments and the reading of replies. The functions are one library:
 * https://redis.io/docs/latest/develop/interact/programmability/functions-intro/. Its name ends with a hash of the text, so that fleets of
 * two versions share a Redis, each with its own functions. Tests replace Redis's clock by their own. All texts of a call travel in one
 * argument and all numbers in another, as doubles: an argument for each would cost both sides more than the function's own work. The
 * arguments and replies of each function are in calls.ts and load.ts.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Month } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";

/** Keyed by the file in scripts that registers them. */
const functions = {
  admit: ["admit"],
  resolve: ["resolve"],
  blocks: ["lend", "take-back"],
  load: ["begin-load", "merge-windows", "load", "forget"],
  read: ["read", "holds", "overdue"],
} as const;

type FunctionFile = keyof typeof functions;
export type FunctionName = (typeof functions)[FunctionFile][number];

export interface FunctionLibrary {
  /** The argument of `FUNCTION LOAD` for a node of a Redis Cluster, or for a Redis alone. */
  text(isOfCluster: boolean): string;
  /** A hash of the text. It ends the name of the library and of each function, so that fleets of two versions share a Redis. */
  version: string;
}

/** Two calls of TIME may differ, so a function reads the clock once, in ms. */
const redisClock = `local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
`;

/** @param clock Lua that defines `now`; in production it reads the time of Redis, tests pass their own */
export function readFunctions(clock = redisClock): FunctionLibrary {
  const registered = Object.keys(functions).map((file) => `do\n${luaText(file)}end`);
  const body = [clock, luaText("account"), ...registered].join("\n");
  const version = createHash("sha1").update(body).digest("hex");
  return {
    text: (isOfCluster) => `#!lua name=weir_${version}\nlocal version, isOfCluster = '${version}', ${isOfCluster}\n${body}`,
    version,
  };
}

/** @returns the name of a function in Redis */
export function fullName(name: FunctionName, { version }: FunctionLibrary): string {
  return `${name.replaceAll("-", "_")}_${version}`;
}

function luaText(file: string): string {
  return readFileSync(new URL(`./scripts/${file}.lua`, import.meta.url), "utf8");
}

// How the counters of a workspace are stored

/*
 * {w}:a        hash  head: run of the store that it was loaded into, posted balance, its ledger sequence, sum of open holds, a
 *                    time that no hold's deadline precedes, and since when {w}:t takes tombstones; load: the name of a running one;
 *                    per month m:<month> and per key and month k:<key>:<month>: spent, its version, held;
 *                    per key n:<key>: how many requests of the last minute, times of the oldest and of the newest;
 *                    per budget b:<name>: spent, its version, held, and the beginning of the period that it is in;
 *                    per open hold <generation>: amount, admitted at, deadline, k:<key>:<month>, fingerprint, and the budgets that
 *                    it counts against, each with the beginning of its period; lending: until when blocks may count in a window
 *                    and hold credit, how much was lent, and until when nothing is; lent-held: the sum of the holds of blocks;
 *                    loaded: when it became ready
 * {w}:n:<key>  list  times in ms of admitted requests of the last minute, non-decreasing
 * {w}:l:<key>  text  blocks of a key: id, places, until when they count in the window, amount; without an id: nothing is lent until then
 * {w}:t        hash  generation → how and when it was resolved; {w}:u: the same of the minute before. A late admit finds it there
 *                    and is refused. Both expire by themselves, and so does the list.
 * {w}:c        hash  claim → the generation that has it while it is open or in {w}:t or {w}:u; {w}:d: those of the time before
 */

/** The field of the workspace as a whole. */
export const headField = "head";

/** Blocks lent to gateways. */
export const lendingField = "lending";

/** Spent and held by the workspace in a month. */
export function monthField(month: Month): string {
  return `m:${month}`;
}

/** Spent and held by a key in a month. */
export function keyMonthField({ key, month }: { key: KeyId; month: Month }): string {
  return `k:${key}:${month}`;
}

/** Spent and held of a budget in its current period. */
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
  /** Exact up to 2^53. Only limits can be larger, and no sum reaches those. */
  numbers: number[];
}

/** The numbers begin with the count of texts. Bytes are in the machine's own order, which is that of Redis: little-endian. */
export function packedArguments({ texts, numbers }: Packing): [texts: string, numbers: Buffer] {
  const packed = new Float64Array(1 + numbers.length);
  packed[0] = texts.length;
  packed.set(numbers, 1);
  return [`${texts.join("\0")}\0`, Buffer.from(packed.buffer)];
}

/** Reads the elements of a function's reply, texts and whole numbers, one after another. Anything else is our fault: it throws. */
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
