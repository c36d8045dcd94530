/**
 * The SQL of mails that wait. An attempt counts when it begins, even if its process dies, and every attempt has the same Message-ID.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";

export interface NewMail {
  /** The ticket that it acknowledges; null: none. */
  ticket: string | null;
  recipient: string;
  subject: string;
  body: string;
}

export async function insertMail({ at, ...mail }: NewMail & { at: Date }, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO mails (ticket_id, recipient, subject, body, due_at)
    VALUES (${mail.ticket}, ${mail.recipient}, ${mail.subject}, ${mail.body}, ${at})`;
}

export interface Mail {
  id: bigint;
  recipient: string;
  subject: string;
  body: string;
  messageId: string;
  /** Including this one. */
  attempts: number;
}

/**
 * Begins an attempt at the mail that has waited longest. The attempt counts even if this process dies, and the next attempt sends the mail
 * with the same Message-ID.
 * @param domain the domain of a new Message-ID
 */
export async function beginAttempt({ now, domain }: { now: Date; domain: string }, sql: Queries): Promise<Mail | undefined> {
  const [row] = await sql<Mail[]>`
    UPDATE mails SET attempts = attempts + 1, message_id = coalesce(message_id, '<' || coalesce(ticket_id, 'mail-' || id) || '@' || ${domain}::text || '>')
    WHERE id = (SELECT id FROM mails WHERE state = 'waiting' AND due_at <= ${now} ORDER BY due_at, id LIMIT 1)
    RETURNING id, recipient, subject, body, message_id AS "messageId", attempts`;
  return row;
}

export async function markSent({ id, at }: { id: bigint; at: Date }, sql: Queries): Promise<void> {
  await sql`UPDATE mails SET state = 'sent', ended_at = ${at}, failure = NULL WHERE id = ${id}`;
}

export async function markGivenUp({ id, at, failure }: { id: bigint; at: Date; failure: string }, sql: Queries): Promise<void> {
  await sql`UPDATE mails SET state = 'given_up', ended_at = ${at}, failure = ${failure} WHERE id = ${id}`;
}

export async function postpone(
  { id, until, failure }: { id: bigint; until: Date; failure: string },
  sql: Queries,
): Promise<void> {
  await sql`UPDATE mails SET due_at = ${until}, failure = ${failure} WHERE id = ${id}`;
}

export async function countDue(now: Date, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM mails WHERE state = 'waiting' AND due_at <= ${now}`;
  return row?.count ?? 0;
}
