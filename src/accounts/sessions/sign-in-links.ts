/** Links that sign a person in once: for invitations, new passwords, and where an operator gives one out. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { linkMsMax } from "../limits.ts";
import { hashToken, isToken, newToken } from "./token.ts";

export type LinkPurpose = keyof typeof linkMsMax;

export interface SignInLink {
  email: string;
  purpose: LinkPurpose;
}

interface Sources {
  sql: Queries;
  clock: Clock;
}

/** @returns the path of the link, which is given out once and not stored, and when it expires (ISO 8601) */
export async function createSignInLink(
  { email, purpose }: SignInLink,
  { sql, clock }: Sources,
): Promise<{ path: string; expiresAt: string }> {
  const token = newToken();
  const nowMs = clock.now();
  const expiresMs = nowMs + linkMsMax[purpose];
  await sql`
    INSERT INTO sign_in_links (token_hash, email, purpose, created_at, expires_at)
    VALUES (${hashToken(token)}, ${email}, ${purpose}, ${new Date(nowMs)}, ${new Date(expiresMs)})`;
  return { path: `/console/link/${token}`, expiresAt: isoTime(expiresMs) };
}

/** Reads a link and leaves it usable. @returns null if it is unknown, used or expired, or its account is not active */
export async function findSignInLink(token: string, { sql, clock }: Sources): Promise<SignInLink | null> {
  if (!isToken(token)) return null;
  const [row] = await sql<SignInLink[]>`
    SELECT l.email, l.purpose FROM sign_in_links l JOIN accounts a ON a.email = l.email
    WHERE l.token_hash = ${hashToken(token)} AND l.expires_at > ${new Date(clock.now())} AND a.state = 'active'`;
  return row ?? null;
}

/** Uses a link up. @returns null as `findSignInLink` does; of several at once one gets it */
export async function takeSignInLink(token: string, { sql, clock }: { sql: Transaction; clock: Clock }): Promise<SignInLink | null> {
  const link = await findSignInLink(token, { sql, clock });
  if (link === null) return null;
  const deleted = await sql`DELETE FROM sign_in_links WHERE token_hash = ${hashToken(token)}`;
  return deleted.count === 1 ? link : null;
}
