import type { Queries } from "../backing.ts";

/** Runs `start` on the connection that is found for it, and watches over it. */
export type RunQuery = (start: (sql: Queries) => Promise<unknown>) => Promise<unknown>;

const modifiers = ["simple", "raw", "values", "describe"] as const;

/**
 * A query of postgres.js that is made anew where it is asked, which is when it is first waited for. One that is never waited
 * for is a fragment of others. What is not a query, such as an identifier, is given back as it is.
 * @param make makes the query with any handle of postgres.js
 */
export function lazyQuery<Q>(maker: Queries, make: (sql: Queries) => Q, run: RunQuery): Q {
  const query = make(maker);
  if (!(query instanceof Promise)) return query;
  const chosen: (typeof modifiers)[number][] = [];
  let outcome: Promise<unknown> | null = null;
  const asked = (): Promise<unknown> => (outcome ??= run((sql) => modified(make(sql), chosen)));
  const choose = (modifier: (typeof modifiers)[number]) => () => {
    chosen.push(modifier);
    return query;
  };
  return Object.assign(query, {
    ...Object.fromEntries(modifiers.map((modifier) => [modifier, choose(modifier)])),
    execute: () => {
      asked().catch(() => {});
      return query;
    },
    then: (...parameters: Parameters<Promise<unknown>["then"]>) => asked().then(...parameters),
    catch: (...parameters: Parameters<Promise<unknown>["catch"]>) => asked().catch(...parameters),
    finally: (...parameters: Parameters<Promise<unknown>["finally"]>) => asked().finally(...parameters),
  });
}

/** The outcome of a query as modified; a promise of our own, since a query of postgres.js is one only when it is waited for. */
function modified(query: unknown, chosen: (typeof modifiers)[number][]): Promise<unknown> {
  let made = asQuery(query);
  for (const modifier of chosen) made = made[modifier]();
  return new Promise((resolve, reject) => void made.then(resolve, reject));
}

type Modified = Promise<unknown> & Record<(typeof modifiers)[number], () => Modified>;

/** What `make` made once is a query, so it is each time. */
function asQuery(query: unknown): Modified {
  return query as Modified;
}
