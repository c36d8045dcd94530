/** The Lua scripts, as Redis is given them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export type ScriptName = "admit" | "resolve" | "begin-load" | "load" | "merge-windows" | "read" | "overdue";

export interface Script {
  text: string;
  /** By which Redis knows it once it has the text. */
  sha1: string;
}

export type Scripts = Record<ScriptName, Script>;

/** @param clock Lua that sets `clock`; tests give their own, that of production asks Redis for its time */
export function readScripts(clock: string = luaText("clock")): Scripts {
  const before = `${clock}\n${luaText("prelude")}\n`;
  const read = (name: ScriptName): Script => {
    const text = before + luaText(name);
    return { text, sha1: createHash("sha1").update(text).digest("hex") };
  };
  return {
    admit: read("admit"),
    resolve: read("resolve"),
    "begin-load": read("begin-load"),
    load: read("load"),
    "merge-windows": read("merge-windows"),
    read: read("read"),
    overdue: read("overdue"),
  };
}

function luaText(name: ScriptName | "clock" | "prelude"): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), "utf8");
}
