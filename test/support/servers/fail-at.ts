import type { Database, Queries } from "../../../src/backing/backing.ts";

/** A handle whose n-th statement, counted over all transactions, fails instead of running: what came before it is rolled back. */
export function failAt(sql: Database, n: number): Database {
  let count = 0;
  const counting = <Handle extends Queries>(handle: Handle): Handle =>
    new Proxy(handle, {
      apply(target, self, [first, ...values]: [unknown, ...unknown[]]) {
        const query: unknown = Reflect.apply(target as never, self, [first, ...values]);
        return isStatement(first) && ++count >= n ? Promise.reject(new Error(`killed before statement ${n}`)) : query;
      },
      get(target, name) {
        if (name !== "begin") return Reflect.get(target, name);
        return (work: (tx: Queries) => Promise<unknown>) => sql.begin((tx) => work(counting(tx)));
      },
    });
  return counting(sql);
}

/** Fragments of other statements begin with another word. */
function isStatement(first: unknown): boolean {
  const [text = ""] = Array.isArray(first) ? (first as string[]) : [];
  return /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|LOCK|DROP|CREATE|ALTER)\b/.test(text);
}
