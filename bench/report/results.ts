/** Reads stored results. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { resultsFolder } from "../paths.ts";
import { UsageError } from "../usage-error.ts";
import type { Facts } from "./facts.ts";

/** Reads a result. One of another version of the bench may lack parts. @throws UsageError */
export function readFacts(path: string): Facts {
  if (!existsSync(path)) throw new UsageError(`There is no file "${path}"`);
  return JSON.parse(readFileSync(path, "utf8")) as Facts;
}

/** The path of the newest result with all these parts; null: there is none. */
export function newestWith(parts: readonly (keyof Facts)[]): string | null {
  if (!existsSync(resultsFolder)) return null;
  const names = readdirSync(resultsFolder).filter((name) => /^\d{4}-\d\d-\d\d-\d{4}\.json$/.test(name));
  const newestFirst = names
    .toSorted()
    .toReversed()
    .map((name) => join(resultsFolder, name));
  return newestFirst.find((path) => parts.every((part) => readFacts(path)[part] !== undefined)) ?? null;
}
