import type { Queries } from "../../backing/backing.ts";

interface Counted {
  /** The digest of what the tries are counted for. */
  subject: Uint8Array;
  now: Date;
  /** Tries that began at this time or earlier are over. */
  over: Date;
  /** Beyond it no more are counted. */
  max: number;
}

/** Counts a try, atomically. @returns the tries so far and when the first one was */
export async function countOne({ subject, now, over, max }: Counted, sql: Queries): Promise<{ tries: number; since: Date }> {
  const [row] = await sql<{ tries: number; since: Date }[]>`
    INSERT INTO sign_in_tries AS t (subject, since, tries) VALUES (${subject}, ${now}, 1)
    ON CONFLICT (subject) DO UPDATE SET
      since = CASE WHEN t.since <= ${over} THEN ${now} ELSE t.since END,
      tries = CASE WHEN t.since <= ${over} THEN 1 ELSE least(t.tries + 1, ${max + 1}) END
    RETURNING tries, since`;
  return row ?? { tries: 1, since: now };
}

/** @returns the tries that count at present, and when the first one was; undefined: there are none */
export async function selectTries(
  { subject, over }: Pick<Counted, "subject" | "over">,
  sql: Queries,
): Promise<{ tries: number; since: Date } | undefined> {
  const [row] = await sql<{ tries: number; since: Date }[]>`
    SELECT tries, since FROM sign_in_tries WHERE subject = ${subject} AND since > ${over}`;
  return row;
}

export async function deleteTries(subject: Uint8Array, sql: Queries): Promise<void> {
  await sql`DELETE FROM sign_in_tries WHERE subject = ${subject}`;
}
