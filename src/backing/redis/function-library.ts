/**
 * Our Lua functions as one library of Redis: https://redis.io/docs/latest/develop/interact/programmability/functions-intro/. Its name ends
 * with a hash of the text, so that fleets of two versions share a Redis, each with its own functions. Tests put a clock of their own in
 * place of Redis's.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const names = [
  "admit",
  "resolve",
  "lend",
  "take-back",
  "begin-load",
  "load",
  "forget",
  "merge-windows",
  "read",
  "holds",
  "overdue",
] as const;

export type FunctionName = (typeof names)[number];

export interface FunctionLibrary {
  /** The argument of `FUNCTION LOAD` for a node of a Redis Cluster, or for a Redis alone. */
  text(isOfCluster: boolean): string;
  /** A hash of the text. It ends the name of the library and of each function, so that fleets of two versions share a Redis. */
  version: string;
}

/** @param clock Lua that defines `now`; in production it reads the time of Redis, tests pass their own */
export function readFunctions(clock: string = luaText("clock")): FunctionLibrary {
  const shared = [clock, luaText("prelude"), luaText("window"), luaText("open-holds")];
  const functions = names.map((name) => `do\n${luaText(name)}end`);
  const body = [...shared, ...functions].join("\n");
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

function luaText(name: FunctionName | "clock" | "prelude" | "window" | "open-holds"): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), "utf8");
}
