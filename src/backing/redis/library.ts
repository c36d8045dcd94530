/** The Lua functions that Redis runs, as a library of it: https://redis.io/docs/latest/develop/interact/programmability/functions-intro/ */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export type FunctionName =
  "admit" | "resolve" | "begin-load" | "load" | "forget" | "merge-windows" | "read" | "holds" | "overdue";

export interface Library {
  /** As `FUNCTION LOAD` takes it. */
  text: string;
  /** Of its text: behind the name of the library and of each function, so that fleets of two versions share a Redis. */
  version: string;
}

const names: FunctionName[] = ["admit", "resolve", "begin-load", "load", "forget", "merge-windows", "read", "holds", "overdue"];

/** @param clock Lua that makes `now`; tests give their own, that of production asks Redis for its time */
export function readLibrary(clock: string = luaText("clock")): Library {
  const shared = [clock, luaText("prelude"), luaText("open-holds")];
  const functions = names.map((name) => `do\n${luaText(name)}end`);
  const body = [...shared, ...functions].join("\n");
  const version = createHash("sha1").update(body).digest("hex");
  return { text: `#!lua name=weir_${version}\nlocal version = '${version}'\n${body}`, version };
}

/** @returns the name by which Redis knows a function of the library */
export function fullName(name: FunctionName, { version }: Library): string {
  return `${name.replaceAll("-", "_")}_${version}`;
}

function luaText(name: FunctionName | "clock" | "prelude" | "open-holds"): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), "utf8");
}
