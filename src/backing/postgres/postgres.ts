/**
 * PostgreSQL over TCP: it outlives the server's restarts, and no statement waits longer than databaseDeadlineMs. The server ends long
 * statements by itself, but a server that is frozen or has vanished ends nothing, and postgres.js would wait for ever. So the handle of
 * postgres.js stands over a pool of our own (session-pool.ts), in which every statement throws in time. It keeps the tag of postgres.js,
 * which makes both statements and fragments: with separate verbs, each of the 300 statements in the stores would have to name its kind. A
 * query is therefore made when it is first awaited, and one that is never awaited is a fragment.
 */
import postgres, { type TransactionSql } from "postgres";
import type { Logger } from "../../kernel/log.ts";
import type { Secret } from "../../kernel/secret.ts";
import { type Database, type Queries, type Transaction, watchStatements } from "../backing.ts";
import { databaseStatementMsMax } from "../limits.ts";
import { ReadPool } from "./read-pool.ts";
import { SessionPool, type Sessions } from "./session-pool.ts";
import type { SessionParts, Session } from "./session.ts";

export interface OpenDatabase extends AsyncDisposable {
  sql: Database;
}

/** Connects on first use. Statements throw while the server is away, and work again once it is back. */
export function openPostgres(parts: SessionParts): OpenDatabase {
  const pool = new SessionPool(parts);
  return { sql: boundedSql(pool), [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

/** As `openPostgres`, with a replica whose reads may be a few seconds old. @param parts.readUrl null: there is none */
export function openPostgresPair({
  readUrl,
  log,
  ...parts
}: SessionParts & { readUrl: Secret | null; log: Logger }): OpenDatabase & { reads: Database } {
  const primary = new SessionPool(parts);
  const sql = boundedSql(primary);
  if (readUrl === null) return { sql, reads: sql, [Symbol.asyncDispose]: () => primary[Symbol.asyncDispose]() };
  const replica = new SessionPool({ ...parts, url: readUrl });
  return {
    sql,
    reads: boundedSql(new ReadPool({ primary, replica, clock: parts.clock, log })),
    async [Symbol.asyncDispose]() {
      await Promise.all([primary[Symbol.asyncDispose](), replica[Symbol.asyncDispose]()]);
    },
  };
}

type Work<T> = (tx: Transaction) => T | Promise<T>;

/** A handle over the pool. Each of its statements throws DeadlineError, or the connection's error, rather than hang. */
function boundedSql(pool: Sessions): Database {
  // Makes fragments and parameters, and queries before they are sent; it never connects.
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

/** Watches what a transaction does around its work: begin, commit, rollback. The work's statements are watched one by one. */
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

/** Runs `start` on the connection that is found for it, and watches it. */
type RunQuery = (start: (sql: Queries) => Promise<unknown>) => Promise<unknown>;

const modifiers = ["simple", "raw", "values", "describe"] as const;

/**
 * A query of postgres.js that is made again when it is first awaited. One that is never awaited is a fragment of others. Anything else,
 * such as an identifier, is returned as it is.
 * @param make makes the query with any handle of postgres.js
 */
function lazyQuery<Q>(maker: Queries, make: (sql: Queries) => Q, run: RunQuery): Q {
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

/** The outcome of a query as modified. It is our own promise, since a query of postgres.js starts only when awaited. */
function modified(query: unknown, chosen: (typeof modifiers)[number][]): Promise<unknown> {
  let made = asQuery(query);
  for (const modifier of chosen) made = made[modifier]();
  return new Promise((resolve, reject) => void made.then(resolve, reject));
}

type Modified = Promise<unknown> & Record<(typeof modifiers)[number], () => Modified>;

/** `make` has made a query before, so it makes one each time. */
function asQuery(query: unknown): Modified {
  return query as Modified;
}
