/**
 * The handle of postgres.js over a pool of our own, in which every statement ends in time. The server ends long statements by
 * itself, but one that is frozen, or gone without a word, ends nothing, and postgres.js would wait with it for ever.
 * It keeps the tag of postgres.js, which is a statement and a fragment of statements alike: with separate verbs for the two, each of
 * the 300 statements in the stores would have to name its kind.
 */
import postgres, { type TransactionSql } from "postgres";
import { databaseStatementMsMax } from "../limits.ts";
import type { Database, Queries, Transaction } from "../backing.ts";
import { watchStatements } from "../statement-time.ts";
import { lazyQuery, type RunQuery } from "./lazy-query.ts";
import type { Sessions } from "./session-pool.ts";
import type { Session } from "./session.ts";

type Work<T> = (tx: Transaction) => T | Promise<T>;

/** Each of its statements throws DeadlineError, or the connection's error, rather than hang. */
export function boundedSql(pool: Sessions): Database {
  // Makes fragments and parameters, and what a query looks like before it is asked; it never connects.
  const maker: Database = postgres({ ...noSocket, types: { bigint: postgres.BigInt } });
  const run: RunQuery = (start) =>
    pool.use((session) => session.watch(databaseStatementMsMax, session.outcome(start(session.sql))));
  return boundedHandle(maker, run, {
    begin: <T>(...parameters: [Work<T>] | [string, Work<T>]) => {
      const [options, work] = parameters.length === 1 ? ["", parameters[0]] : parameters;
      return pool.use((session) =>
        session.outcome(
          aroundWork({ session, statementMs: databaseStatementMsMax }, work, (inner) => session.sql.begin(options, inner)),
        ),
      );
    },
    reserve: async () => {
      const { session, giveBack } = await pool.take();
      const once = (start: () => Promise<unknown>): Promise<unknown> =>
        session.watch(databaseStatementMsMax, session.outcome(start()));
      return boundedHandle(session.sql, (start) => once(() => start(session.sql)), { release: giveBack });
    },
  });
}

const noSocket = {
  socket: () => {
    throw new Error("Cursors and copies run in a transaction or on a reserved connection");
  },
};

interface Watched {
  session: Session;
  /** May be raised while the transaction runs. */
  statementMs: number;
}

function boundedTransaction(tx: TransactionSql<{ bigint: bigint }>, { session, statementMs }: Watched): Transaction {
  const watched = { session, statementMs };
  const run: RunQuery = (start) => session.watch(watched.statementMs, start(tx));
  const bounded = boundedHandle(tx, run, {
    savepoint: <T>(...parameters: [Work<T>] | [string, Work<T>]) => {
      const [name, work] = parameters.length === 1 ? ["", parameters[0]] : parameters;
      return aroundWork(watched, work, (inner) => tx.savepoint(name, inner));
    },
  });
  watchStatements(bounded, watched);
  return bounded;
}

/** Watches over what a transaction does outside of its work: begin, commit, rollback. The work's statements are watched alone. */
async function aroundWork<T, R>(watched: Watched, work: Work<T>, run: (inner: Work<T>) => Promise<R>): Promise<R> {
  const { session } = watched;
  const watch = (): (() => void) => session.after(watched.statementMs, () => session.drop());
  let cancel = watch();
  try {
    return await run(async (tx) => {
      cancel();
      try {
        return await work(boundedTransaction(tx, watched));
      } finally {
        cancel = watch();
      }
    });
  } finally {
    cancel();
  }
}

function boundedHandle<H extends Queries>(handle: H, run: RunQuery, replaced: Record<string, unknown>): H {
  return new Proxy(handle, {
    apply: (_target, self, parameters) => lazyQuery(handle, (sql) => Reflect.apply(sql, self, parameters), run),
    get: (target, name) => {
      if (typeof name === "string" && Object.hasOwn(replaced, name)) return replaced[name];
      if (name !== "unsafe") return Reflect.get(target, name);
      return (...parameters: Parameters<Queries["unsafe"]>) => lazyQuery(handle, (sql) => sql.unsafe(...parameters), run);
    },
  });
}
