/**
 * Work that only one process of a fleet does at a time: a PostgreSQL lock, which ends with the connection of a process that dies. The
 * holder shows twice a second that it is alive. One that hangs loses the lock after two seconds; when it wakes, two processes do the work
 * at once for a moment, which all work under such a lock allows. So it saves work, and never guards money.
 */
import { sleep, type Clock } from "../kernel/clock.ts";
import type { Database, Transaction } from "./backing.ts";
import { advisoryLockBeatMs, advisoryLockSilenceMsMax } from "./limits.ts";

interface LockParts {
  sql: Database;
  clock: Clock;
}

/** Takes the lock of this name; null: another process holds it. */
export type Lock = (name: string) => Promise<AsyncDisposable | null>;

/**
 * Takes the lock on its own connection, which lasts as long as the lock. PostgreSQL ends a transaction that is idle for longer than two
 * seconds.
 * @param name such as "weir prober"
 * @returns null when another process holds it
 * @throws errors of the database
 */
export async function tryAdvisoryLock(name: string, { sql, clock }: LockParts): Promise<AsyncDisposable | null> {
  const taken = Promise.withResolvers<boolean>();
  const over = new AbortController();
  let isLost = false;
  const held = sql.begin(async (tx) => {
    const locked = await tryLock(name, tx);
    taken.resolve(locked);
    while (locked && !over.signal.aborted) {
      await sleep(clock, advisoryLockBeatMs, over.signal);
      // A process that hung first reads what arrived meanwhile, such as the end of this connection.
      await new Promise<void>((resolve) => clock.endOfTurn(resolve));
      // postgres.js throws outside any caller when it must end a transaction on a connection that has closed.
      if (isLost) await new Promise<never>(() => {});
      await tx`SELECT`;
    }
  });
  held.catch((error: unknown) => {
    isLost = true;
    over.abort();
    taken.reject(error);
  });
  if (!(await taken.promise)) return null;
  return {
    async [Symbol.asyncDispose]() {
      over.abort();
      // A lost connection holds no lock.
      await held.catch(() => {});
    },
  };
}

async function tryLock(name: string, tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    SELECT pg_try_advisory_xact_lock(hashtext(${name})) AS locked,
      set_config('idle_in_transaction_session_timeout', ${String(advisoryLockSilenceMsMax)}, true)`;
  return row?.locked === true;
}
