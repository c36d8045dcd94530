/**
 * Gives every statement a deadline of our own. The server ends long statements by itself, but a server that is frozen, or gone
 * without a word, ends nothing, and postgres.js would wait with it for ever. A missed deadline therefore means that the
 * connection is dead, and so are its sisters: all are dropped, and the next statement connects anew.
 */
import type { TransactionSql } from "postgres";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { Database, Queries, Transaction } from "../backing.ts";
import { watchStatements } from "../statement-time.ts";
import type { Line } from "./line.ts";

export interface Bounds {
  clock: Clock;
  /** Longer than the server's own limit, so that a miss means that the server does not answer. */
  statementMs: number;
  line: Line;
  /** Drops every connection; whatever was under way on them fails. */
  dropConnections(): void;
}

/** Starts a statement or a part of a transaction, and watches over it. */
type Watch = <T>(start: () => Promise<T>) => Promise<T>;
type Work<T> = (tx: Transaction) => T | Promise<T>;

/** The same handle, each of whose statements ends in time. @throws DeadlineError from any of them */
export function boundedSql(sql: Database, bounds: Bounds): Database {
  const watch = watcher(bounds, bounds);
  const inLine: Watch = async (start) => {
    const leave = await bounds.line.enter();
    const outcome = start();
    // A statement that was given up still holds its connection, hence its place, until the connection is gone.
    outcome.then(leave, leave);
    return await watch(() => outcome);
  };
  return boundedHandle(sql, inLine, {
    begin: async <T>(...parameters: [Work<T>] | [string, Work<T>]) => {
      const leave = await bounds.line.enter();
      const [options, work] = parameters.length === 1 ? ["", parameters[0]] : parameters;
      return await aroundWork(bounds, work, (inner) => sql.begin(options, inner)).finally(leave);
    },
    reserve: async () => {
      const leave = await bounds.line.enter();
      const reserved = await watch(() => sql.reserve()).catch((error: unknown) => {
        leave();
        throw error;
      });
      const release = (): void => {
        reserved.release();
        leave();
      };
      return boundedHandle(reserved, watch, { release });
    },
  });
}

function boundedTransaction(tx: TransactionSql<{ bigint: bigint }>, bounds: Bounds): Transaction {
  const grant = { statementMs: bounds.statementMs };
  const bounded = boundedHandle(tx, watcher(bounds, grant), {
    savepoint: <T>(...parameters: [Work<T>] | [string, Work<T>]) => {
      const work = parameters.length === 1 ? parameters[0] : parameters[1];
      const name = parameters.length === 1 ? "" : parameters[0];
      return aroundWork(bounds, work, (inner) => tx.savepoint(name, inner));
    },
  });
  watchStatements(bounded, grant);
  return bounded;
}

function watcher({ clock, dropConnections }: Bounds, grant: { statementMs: number }): Watch {
  return async (start) => {
    let missed = true;
    const outcome = start().finally(() => (missed = false));
    try {
      return await withDeadline(clock, grant.statementMs, "A statement of the database", outcome);
    } finally {
      if (missed) dropConnections();
    }
  };
}

/** Watches over what a transaction does outside of its work: begin, commit, rollback. The work's statements have their own. */
async function aroundWork<T, R>(bounds: Bounds, work: Work<T>, run: (inner: Work<T>) => Promise<R>): Promise<R> {
  const { clock, statementMs, dropConnections } = bounds;
  let cancel = clock.after(statementMs, dropConnections);
  try {
    return await run(async (tx) => {
      cancel();
      try {
        return await work(boundedTransaction(tx, bounds));
      } finally {
        cancel = clock.after(statementMs, dropConnections);
      }
    });
  } finally {
    cancel();
  }
}

function boundedHandle<H extends Queries>(handle: H, watch: Watch, replaced: Record<string, unknown>): H {
  return new Proxy(handle, {
    apply: (target, self, parameters) => boundedQuery(Reflect.apply(target, self, parameters), watch),
    get: (target, name) => {
      if (typeof name === "string" && Object.hasOwn(replaced, name)) return replaced[name];
      if (name !== "unsafe") return Reflect.get(target, name);
      return (...parameters: Parameters<Queries["unsafe"]>) => boundedQuery(target.unsafe(...parameters), watch);
    },
  });
}

/** A query of postgres.js starts when it is first waited for, and so does its deadline; a fragment is never waited for. */
function boundedQuery<Q>(query: Q, watch: Watch): Q {
  if (!(query instanceof Promise)) return query;
  const start = query.then.bind(query);
  let outcome: Promise<unknown> | null = null;
  const started = (): Promise<unknown> =>
    (outcome ??= watch(() => new Promise((resolve, reject) => void start(resolve, reject))));
  return Object.assign(query, {
    then: (...parameters: Parameters<Promise<unknown>["then"]>) => started().then(...parameters),
    catch: (...parameters: Parameters<Promise<unknown>["catch"]>) => started().catch(...parameters),
    finally: (...parameters: Parameters<Promise<unknown>["finally"]>) => started().finally(...parameters),
  });
}
