/** How long a statement may run. The server ends it, and where the server does not answer, its client gives up a little later. */
import type { Queries } from "./backing.ts";

/** What a client grants the statements of an open transaction; the transaction's handle is the key. */
const granted = new WeakMap<Queries, { statementMs: number }>();

/** From here to its end, a transaction's statements may each run for `milliseconds`. */
export async function allowStatements(milliseconds: number, tx: Queries): Promise<void> {
  const grant = granted.get(tx);
  if (grant) grant.statementMs = milliseconds;
  await tx`SELECT set_config('statement_timeout', ${String(milliseconds)}, true)`;
}

/** From here to its end, a transaction may wait so long for each lock. */
export async function allowLocks(milliseconds: number, tx: Queries): Promise<void> {
  await tx`SELECT set_config('lock_timeout', ${String(milliseconds)}, true)`;
}

/** Called by the client that watches over a transaction. */
export function watchStatements(tx: Queries, grant: { statementMs: number }): void {
  granted.set(tx, grant);
}
