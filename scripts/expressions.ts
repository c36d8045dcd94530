/**
 * Part of `npm run ok`: every regular expression of this repository takes linear time for any text, or has an exception that says why its
 * input is bounded. Every run has the same result, and writes nothing.
 *
 * `expressions/safe.jsonl` lists those found safe, since judging all takes two minutes; only the others are judged. `node_modules/.bin/bun
 * scripts/expressions.ts --accept` writes that file; with `--again` it first judges all of them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { collectFrom, keyOf } from "./expressions/collect.ts";
import { type Exception, exceptions } from "./expressions/exceptions.ts";
import { bounds, problemOf } from "./expressions/judge.ts";

const root = dirname(import.meta.dirname);
const safeFile = join(root, "scripts/expressions/safe.jsonl");
const isAccepting = process.argv.includes("--accept");
/** It takes n² steps. The check must find it each time. */
const slow = { source: "\\/+$", flags: "" };

const { version } = createRequire(import.meta.url)("recheck/package.json") as { version: string };
/** The first line of the file. Judgements of another version, or within other limits, do not count. */
const heading = JSON.stringify({ judgedBy: `recheck ${version}`, ...bounds });
const [first, ...accepted] = readFileSync(safeFile, "utf8").trimEnd().split("\n");
const isAccepted = new Set(first === heading && !process.argv.includes("--again") ? accepted : []);

const used = new Set<Exception>();
function isExcepted(at: string, text: string): boolean {
  const exception = exceptions.find(({ path, text: beginning }) => at.startsWith(`${path}:`) && text.startsWith(beginning));
  if (exception !== undefined) used.add(exception);
  return exception !== undefined;
}

const { expressions, built } = collectFrom(root, ["src", "workers", "scripts"]);
const problems = built
  .filter(({ at, text }) => !isExcepted(at, text))
  .map(({ at, text }) => `${at} is built of more than constants and cannot be checked: ${text}`);
if (problemOf(slow) === null) problems.push(`the check does not report ${keyOf(slow)}, which is slow: it does not work`);
const safe = new Set<string>();
for (const [key, [expression]] of Map.groupBy(expressions, keyOf)) {
  const line = JSON.stringify(key);
  const problem = expression === undefined || isAccepted.has(line) ? null : problemOf(expression);
  if (problem === null) safe.add(line);
  else if (!isExcepted(expression?.at ?? "", key)) problems.push(`${expression?.at} ${key} ${problem}`);
}
for (const exception of exceptions)
  if (!used.has(exception)) problems.push(`${exception.path}: the exception for ${exception.text} is not needed`);

if (isAccepting) writeFileSync(safeFile, `${[heading, ...[...safe].toSorted()].join("\n")}\n`);
const isNew = safe.size - [...safe].filter((line) => isAccepted.has(line)).length;
console.log(`${safe.size} safe expressions, ${exceptions.length} exceptions, ${problems.length} problems`);
if (isNew > 0 && !isAccepting) console.log(`${isNew} of them are not in safe.jsonl; --accept adds them`);
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
