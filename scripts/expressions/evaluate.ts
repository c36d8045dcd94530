/** Finds the text of an expression that its module builds: loads the module and records its calls of `RegExp`. */
import { join } from "node:path";
import type { Expression, MadeExpression } from "./expression.ts";

/** @returns none where the module builds it only at run time */
export async function evaluated(root: string, { path, line }: MadeExpression): Promise<Expression[]> {
  const made: Expression[] = [];
  const { RegExp: native } = globalThis;
  globalThis.RegExp = new Proxy(native, {
    construct(target, given: [string, string?]) {
      const expression = new target(...given);
      const { source, flags } = expression;
      if (new Error().stack?.includes(`${path}:${line}:`)) made.push({ source, flags, at: `${path}:${line}` });
      return expression;
    },
  });
  try {
    // With its own query, the module is loaded again even if it was loaded before.
    await import(`${join(root, path)}?line=${line}`);
  } finally {
    globalThis.RegExp = native;
  }
  return made;
}
