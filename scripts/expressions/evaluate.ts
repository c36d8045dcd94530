/** What an expression is that its module puts together: the module is loaded, and its calls of `RegExp` are listened to. */
import { join } from "node:path";
import type { Expression, MadeExpression } from "./expression.ts";

/** @returns none where the module makes it only in use */
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
    // With a query of its own it is loaded again where it was loaded before.
    await import(`${join(root, path)}?line=${line}`);
  } finally {
    globalThis.RegExp = native;
  }
  return made;
}
