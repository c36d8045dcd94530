import type { Queries, Transaction } from "../../backing/backing.ts";

/** Of an active account; null: there is none, or it has no password. */
export async function selectPasswordHash(email: string, sql: Queries): Promise<string | null> {
  const [row] = await sql<{ hash: string | null }[]>`
    SELECT password_hash AS hash FROM accounts WHERE email = ${email} AND state = 'active'`;
  return row?.hash ?? null;
}

export async function updatePasswordHash({ email, hash }: { email: string; hash: string }, tx: Transaction): Promise<void> {
  await tx`UPDATE accounts SET password_hash = ${hash} WHERE email = ${email}`;
}
