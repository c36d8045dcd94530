/** SQL of the webhook's events. */
import type { Queries, Transaction } from "../../backing/backing.ts";

/** @returns whether the event is new: then this transaction is the one that applies it */
export async function claimEvent({ id, at }: { id: string; at: Date }, tx: Transaction): Promise<boolean> {
  const inserted = await tx`INSERT INTO stripe_events (id, at) VALUES (${id}, ${at}) ON CONFLICT (id) DO NOTHING`;
  return inserted.count === 1;
}

export async function isApplied(id: string, sql: Queries): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM stripe_events WHERE id = ${id}`;
  return rows.length > 0;
}

export async function deleteEvents(before: Date, sql: Queries): Promise<void> {
  await sql`DELETE FROM stripe_events WHERE at < ${before}`;
}
