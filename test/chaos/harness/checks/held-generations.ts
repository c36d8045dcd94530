/** Every generation that the counters ever held, from Redis's append-only file, which Redis writes before it answers. */
import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

const generation = /^gen-[a-z2-7]{26}$/;

export class HeldGenerations {
  readonly #folder: string;
  readonly #held = new Set<string>();
  /** How many bytes of each file were read. */
  readonly #read = new Map<string, number>();

  /** @param folder the data of a Redis 7 that never rewrites its file */
  constructor(folder: string) {
    this.#folder = join(folder, "appendonlydir");
  }

  /** Reads what was written since the last time. */
  read(): ReadonlySet<string> {
    for (const name of readdirSync(this.#folder).filter((file) => file.endsWith(".incr.aof"))) this.#readFile(name);
    return this.#held;
  }

  #readFile(name: string): void {
    const from = this.#read.get(name) ?? 0;
    const bytes = bytesAfter(join(this.#folder, name), from);
    for (const { words, end } of commandsIn(bytes)) {
      this.#read.set(name, from + end);
      const [command = "", key = "", ...fields] = words;
      if (command.toUpperCase() !== "HSET" || !key.endsWith(":a")) continue;
      for (let place = 0; place < fields.length; place += 2) {
        const field = fields[place] ?? "";
        if (generation.test(field)) this.#held.add(field);
      }
    }
  }
}

/** Nothing where the file is gone: a replica that joins its master starts a new one. */
function bytesAfter(path: string, from: number): Buffer {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}

/** The commands in the format of the protocol (`*2`, `$4`, `PING`, with CR LF after each line), without a truncated last one. */
function* commandsIn(bytes: Buffer): Generator<{ words: string[]; end: number }> {
  let at = 0;
  const line = (): string => {
    const end = bytes.indexOf("\r\n", at);
    const text = bytes.toString("latin1", at, end === -1 ? at : end);
    at = end === -1 ? bytes.length + 1 : end + 2;
    return text;
  };
  while (at < bytes.length) {
    const head = line();
    if (!head.startsWith("*")) continue;
    const words: string[] = [];
    for (let left = Number(head.slice(1)); left > 0; left--) {
      const length = Number(line().slice(1));
      words.push(bytes.toString("latin1", at, at + length));
      at += length + 2;
    }
    if (at <= bytes.length) yield { words, end: at };
  }
}
