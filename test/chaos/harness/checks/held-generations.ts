/** Every generation that the counters ever held, from Redis's append-only file, which Redis writes before it answers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const generation = /^gen-[a-z2-7]{26}$/;

/** @param folder the data of a Redis 7 that never rewrites its file */
export function heldGenerations(folder: string): Set<string> {
  const appended = join(folder, "appendonlydir");
  const held = new Set<string>();
  for (const name of readdirSync(appended).filter((file) => file.endsWith(".incr.aof"))) {
    for (const [command = "", key = "", ...words] of commandsIn(readFileSync(join(appended, name)))) {
      if (command.toUpperCase() !== "HSET" || !key.endsWith(":a")) continue;
      for (let place = 0; place < words.length; place += 2) {
        const field = words[place] ?? "";
        if (generation.test(field)) held.add(field);
      }
    }
  }
  return held;
}

/** The commands in the format of the protocol (`*2`, `$4`, `PING`, with CR LF after each line), without a truncated last one. */
function* commandsIn(bytes: Buffer): Generator<string[]> {
  let at = 0;
  const line = (): string => {
    const end = bytes.indexOf("\r\n", at);
    const text = bytes.toString("latin1", at, end === -1 ? at : end);
    at = end === -1 ? bytes.length : end + 2;
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
    if (at <= bytes.length) yield words;
  }
}
