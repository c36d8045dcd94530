/**
 * The handles that differ between one process and a fleet; all other code is the same. open-backing.ts opens them. Every statement has a
 * timeout: the server ends it, and if the server does not answer, its client gives up a little later. A transaction that needs longer says
 * so at its beginning (`allowStatements`), and the client that watches it is notified. Notifications of what a transaction changed are sent
 * after the commit, so that every receiver can already read the change. A transaction that is rolled back announces nothing, and one that
 * changes many things sends each topic once. No caller has to remember this: the database handle does it for every transaction, and a
 * handle that cannot do it refuses the change. As with every broadcast, correctness does not depend on the delivery: a process that ends
 * right after a commit sends nothing.
 */
import type { ISql, Sql, TransactionSql } from "postgres";
import type { Bus, Notification } from "./bus.ts";

export type Database = Sql<{ bigint: bigint }>;

/** An open transaction. Inside a transaction use only this handle: with a single connection anything else waits for ever. */
export type Transaction = TransactionSql<{ bigint: bigint }>;

/** A statement runs on this: the database or an open transaction. */
export type Queries = ISql<{ bigint: bigint }>;

export interface Backing {
  sql: Database;
  /** For lists and sums that may be two seconds old: a replica if one is configured, otherwise the same as `sql`. */
  reads: Database;
  bus: Bus;
}

// How long a statement may run

/** The timeout that a client grants an open transaction's statements; the transaction's handle is the key. */
const granted = new WeakMap<Queries, { statementMs: number }>();

/** From here to its end, a transaction's statements may each run for `milliseconds`. */
export async function allowStatements(milliseconds: number, tx: Queries): Promise<void> {
  const grant = granted.get(tx);
  if (grant) grant.statementMs = milliseconds;
  await tx`SELECT set_config('statement_timeout', ${String(milliseconds)}, true)`;
}

/** From here to its end, a transaction may wait this long for each lock. */
export async function allowLocks(milliseconds: number, tx: Queries): Promise<void> {
  await tx`SELECT set_config('lock_timeout', ${String(milliseconds)}, true)`;
}

/** Called by the client that watches over a transaction. */
export function watchStatements(tx: Queries, grant: { statementMs: number }): void {
  granted.set(tx, grant);
}

/** @throws when the database does not answer */
export async function ping(sql: Queries): Promise<void> {
  await sql`SELECT 1`;
}

// After the commit

/** @returns the handle whose transactions may use `notifyAfterCommit` @param notify reaches every process */
export function notifying(sql: Database, notify: (topic: Notification) => void): Database {
  const begin = async (...parameters: [Work] | [string, Work]): Promise<unknown> => {
    const [options, work] = parameters.length === 1 ? ["", parameters[0]] : parameters;
    const topics = new Set<Notification>();
    const result = await sql.begin(options, (tx) => {
      waiting.set(tx, topics);
      return work(tx);
    });
    for (const topic of topics) notify(topic);
    return result;
  };
  return new Proxy(sql, { get: (target, name) => (name === "begin" ? begin : Reflect.get(target, name)) });
}

/** @throws Error in a transaction of a handle that is not `notifying`, where the notification would be silently lost */
export function notifyAfterCommit(topic: Notification, tx: Transaction): void {
  const topics = waiting.get(tx);
  if (topics === undefined) throw new Error(`Cannot notify of "${topic}": this handle of the database reaches no bus`);
  topics.add(topic);
}

type Work = (tx: Transaction) => unknown;

/** The topics of open transactions; the transaction's handle is the key. */
const waiting = new WeakMap<Queries, Set<Notification>>();
