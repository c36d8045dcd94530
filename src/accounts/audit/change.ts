/** A change of the control plane and its audit row: one transaction, so that neither exists without the other. */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { signatureOf, type Actor } from "./actor.ts";
import type { Changes } from "./changes.ts";
import { insertAudits } from "./store.ts";

/** What every verb works with. An open transaction in place of the database joins the verb to it. */
export interface Sources {
  sql: Database | Transaction;
  clock: Clock;
}

export interface AuditEvent {
  /** Such as `auth.api.key.updated`. */
  event: string;
  workspace: WorkspaceId | null;
  /** The id or address of what was changed. */
  target: string | null;
  changes: Changes;
}

export interface Change<T> {
  result: T;
  /** null: nothing changed, nothing is recorded. Several where one act changes several things, in their order. */
  event: AuditEvent | readonly AuditEvent[] | null;
}

/** Runs `work` in a transaction, the caller's where it has one, and records its events there. */
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
