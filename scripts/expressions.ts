/** Part of `npm run ok`: every regular expression of this repository takes linear time for any text, or has an exception that says why its input is bounded. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { collectFrom } from "./expressions/collect.ts";
import { evaluated } from "./expressions/evaluate.ts";
import { type Exception, exceptions } from "./expressions/exceptions.ts";
import { type Expression, keyOf, type MadeExpression } from "./expressions/expression.ts";
import { judge, keepJudgements, readJudgements } from "./expressions/judge.ts";

const root = dirname(import.meta.dir);
const folders = ["src", "workers", "scripts"];
const kept = join(root, "node_modules/.cache/weir/expressions.json");
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

const before = readJudgements(kept, version);
const judgements = new Map([...before, ...judge([known, ...expressions.filter((one) => !before.has(keyOf(one)))])]);
if (judgements.get(keyOf(known))?.safe !== false)
  problems.push(`the check does not report ${keyOf(known)}, which is slow: it does not work`);
for (const expression of expressions) {
  const { safe = false, problem = "was not checked" } = judgements.get(keyOf(expression)) ?? {};
  const [path = ""] = expression.at.split(":");
  if (!safe && !isExcepted({ path, text: keyOf(expression) })) problems.push(`${expression.at} ${keyOf(expression)} ${problem}`);
}
for (const exception of exceptions)
  if (!used.has(exception)) problems.push(`${exception.path}: the exception for ${exception.text} is not needed`);

const present = new Set(expressions.map(keyOf));
keepJudgements(kept, version, new Map([...judgements].filter(([key]) => present.has(key))));
console.log(`${present.size} expressions, ${exceptions.length} exceptions, ${problems.length} problems`);
for (const problem of problems) console.error(problem);
process.exit(problems.length === 0 ? 0 : 1);
