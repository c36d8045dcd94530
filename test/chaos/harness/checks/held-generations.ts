/** Every generation that the counters ever held, by Redis's own append-only file: written before it answers. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const generation = /^gen-[a-z2-7]{26}$/;

/** @param folder of a Redis 7 that never rewrites its file */
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

/** Commands as clients send them: `*2`, `$4`, `PING` and so on, each line ended by CR and LF. What is cut off at the end is left out. */
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
