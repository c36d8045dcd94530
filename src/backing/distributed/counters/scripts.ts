/** The Lua scripts, as Redis is given them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

export type ScriptName = "admit" | "resolve" | "begin-load" | "load" | "merge-windows" | "read" | "holds" | "overdue";

export interface Script {
  text: string;
  /** By which Redis knows it once it has the text. */
  sha1: string;
}

export type Scripts = Record<ScriptName, Script>;

/** @param clock Lua that sets `clock`; tests give their own, that of production asks Redis for its time */
export function readScripts(clock: string = luaText("clock")): Scripts {
  const before = [clock, luaText("prelude")];
  const read = (...parts: LuaFile[]): Script => {
    const text = [...before, ...parts.map(luaText)].join("\n");
    return { text, sha1: createHash("sha1").update(text).digest("hex") };
  };
  return {
    admit: read("admit"),
    resolve: read("resolve"),
    "begin-load": read("begin-load"),
    load: read("load"),
    "merge-windows": read("merge-windows"),
    read: read("read"),
    holds: read("open-holds", "holds"),
    overdue: read("open-holds", "overdue"),
  };
}

type LuaFile = ScriptName | "clock" | "prelude" | "open-holds";

function luaText(name: LuaFile): string {
  return readFileSync(new URL(`./${name}.lua`, import.meta.url), "utf8");
}
