/**
 * Makes a change and its audit row in one transaction, so that neither exists without the other.
 *
 * A verb does its work in `change` and returns the event, with only the fields that changed; if nothing changed, it returns none. Verbs
 * nest: given a transaction instead of the database, a verb runs as part of another one. `change` checks no rights; verbs call `authorize`
 * first.
 *
 * After the commit, cached copies of key records are dropped everywhere if the event changes such records. A verb names its event and need
 * not remember anything else.
 */
import { notifyAfterCommit, type Database, type Transaction } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { signatureOf, type Actor } from "./actor.ts";
import { changesRecords, type AuditKind } from "./events.ts";
import { type Changes, insertAudits, type Fields } from "./store.ts";

/** What every verb needs. A transaction instead of the database makes the verb part of it. */
export interface Sources {
  sql: Database | Transaction;
  clock: Clock;
}

export interface AuditEvent {
  event: AuditKind;
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

/**
 * Runs `work` in the caller's transaction or a new one, and records its events there. The notification waits for the commit of the
 * caller's transaction too.
 */
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
    if (events.some(({ event }) => changesRecords[event])) notifyAfterCommit("records-changed", tx);
    return { result };
  };
  const { result } = await ("savepoint" in sql ? inside(sql) : sql.begin(inside));
  return result;
}

/** The changes of an audit row: fields of `after` whose value differs from `before`; a field that `before` lacks was null. */
export function changedFields({ before, after }: { before: Fields; after: Fields }): Changes {
  const changes: Changes = {};
  for (const [field, to] of Object.entries(after)) {
    const from = before[field] ?? null;
    if (JSON.stringify(from) !== JSON.stringify(to)) changes[field] = { from, to };
  }
  return changes;
}
