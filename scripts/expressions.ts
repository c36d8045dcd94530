/** Part of `npm run ok`: every regular expression of this repository takes linear time for any text, or has an exception that says why its input is bounded. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { collectFrom, evaluated, type Expression, keyOf, type MadeExpression } from "./expressions/collect.ts";
import { type Exception, exceptions } from "./expressions/exceptions.ts";
import { judge, keepSafe, readSafe } from "./expressions/judge.ts";

const root = dirname(import.meta.dir);
const folders = ["src", "workers", "scripts"];
/** What was found safe, committed, because to judge all of it takes a minute. */
const kept = join(root, "scripts/expressions/safe.jsonl");
/** Some of those are judged again in every run, at random and for so long, so that a line written by hand does not last. */
const judgedAgainMs = 2_000;
/** An expression that takes n² steps. The check has to find it each time. */
const known: Expression = { source: "\\/+$", flags: "", at: "the check itself" };

const { version } = createRequire(import.meta.url)("recheck/package.json") as { version: string };
const used = new Set<Exception>();
const problems: string[] = [];

function isExcepted({ path, text }: { path: string; text: string }): boolean {
  const exception = exceptions.find((one) => one.path === path && text.startsWith(one.text));
  if (exception !== undefined) used.add(exception);
  return exception !== undefined;
}

async function expressionsOf(made: MadeExpression): Promise<Expression[]> {
  if (isExcepted(made)) return [];
  const found = await evaluated(root, made);
  if (found.length === 0)
    problems.push(`${made.path}:${made.line} is built only at run time and cannot be checked: ${made.text}`);
  return found;
}

const { expressions, made } = collectFrom(root, folders);
for (const one of made) expressions.push(...(await expressionsOf(one)));

const before = readSafe(kept, version);
const judgements = judge([known, ...expressions.filter((one) => !before.has(keyOf(one)))]);
const judgedAgain = expressions.filter((one) => before.has(keyOf(one))).toSorted(() => Math.random() - 0.5);
const endsAt = performance.now() + judgedAgainMs;
for (const one of judgedAgain) {
  if (performance.now() > endsAt) break;
  for (const [key, judgement] of judge([one])) judgements.set(key, judgement);
}
if (judgements.get(keyOf(known))?.safe !== false)
  problems.push(`the check does not report ${keyOf(known)}, which is slow: it does not work`);
const safe = new Set<string>();
for (const expression of expressions) {
  const key = keyOf(expression);
  const judgement = judgements.get(key);
  if (judgement?.safe ?? before.has(key)) safe.add(key);
  else if (!isExcepted({ path: expression.at.split(":")[0] ?? "", text: key }))
    problems.push(`${expression.at} ${key} ${judgement?.problem}`);
}
for (const exception of exceptions)
  if (!used.has(exception)) problems.push(`${exception.path}: the exception for ${exception.text} is not needed`);

const present = new Set(expressions.map(keyOf));
if (safe.size !== before.size || [...safe].some((key) => !before.has(key))) keepSafe(kept, version, safe);
console.log(`${present.size} expressions, ${exceptions.length} exceptions, ${problems.length} problems`);
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
