/** Makes a change and its audit row in one transaction, so that neither exists without the other. */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { signatureOf, type Actor } from "./actor.ts";
import type { Changes } from "./changes.ts";
import { insertAudits } from "./store.ts";

/** What every verb needs. A transaction instead of the database makes the verb part of it. */
export interface Sources {
  sql: Database | Transaction;
  clock: Clock;
}

export interface AuditEvent {
  /** Such as `auth.api.key.updated`. */
  event: string;
  workspace: WorkspaceId | null;
  /** The id or address of the changed thing. */
  target: string | null;
  changes: Changes;
}

export interface Change<T> {
  result: T;
  /** null: nothing changed, and nothing is recorded. Several if the change affects several things, in their order. */
  event: AuditEvent | readonly AuditEvent[] | null;
}

/** Runs `work` in the caller's transaction or a new one, and records its events there. */
export async function change<T>(
  actor: Actor,
  { sql, clock }: Sources,
  work: (tx: Transaction) => Promise<Change<T>>,
): Promise<T> {
  const inside = async (tx: Transaction): Promise<{ result: T }> => {
    const { result, event } = await work(tx);
    const events = event === null ? [] : [event].flat();
    const signature = { ...signatureOf(actor), at: clock.now() };
    await insertAudits(
      events.map((one) => ({ ...one, ...signature })),
      tx,
    );
    return { result };
  };
  const { result } = await ("savepoint" in sql ? inside(sql) : sql.begin(inside));
  return result;
}
