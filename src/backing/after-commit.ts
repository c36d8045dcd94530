/**
 * Notifications of what a transaction changed. They are sent after the commit, so that every receiver can already read the change. A
 * transaction that is rolled back announces nothing, and one that changes many things sends each topic once. No caller has to remember
 * it: the handle of the database does it for every transaction, and a handle that cannot refuses the change. As with every broadcast,
 * correctness does not depend on the delivery: a process that ends right after a commit sends nothing.
 */
import type { Database, Queries, Transaction } from "./backing.ts";
import type { Notification } from "./bus.ts";

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

/** @throws Error in a transaction of a handle that is not `notifying`, where what follows the change would be lost without a word */
export function notifyAfterCommit(topic: Notification, tx: Transaction): void {
  const topics = waiting.get(tx);
  if (topics === undefined) throw new Error(`Cannot notify of "${topic}": this handle of the database reaches no bus`);
  topics.add(topic);
}

type Work = (tx: Transaction) => unknown;

/** The topics of open transactions; the transaction's handle is the key. */
const waiting = new WeakMap<Queries, Set<Notification>>();
