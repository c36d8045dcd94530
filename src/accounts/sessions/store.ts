/**
 * The SQL of sessions, links, passwords and tries. It precedes accounts and members, whose changes end sessions in their own
 * transaction. Sessions and links of an account that is not active are not found.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** `start`: the link that a start in one process gives out, whose session acts as the operator too. */
export type SignInWay = "password" | "link" | "start" | "operator token" | "oidc";

export interface Session {
  /** `ses-` and 26 characters; not the cookie's value. */
  id: string;
  /** null: the holder of the operator token. */
  email: string | null;
  way: SignInWay;
  /** The browser, as it calls itself. */
  agent: string;
  /**
   * Whether its person gave a second factor too, or used what counts as both: the operator's link or token, or an OpenID Connect provider.
   */
  bothFactors: boolean;
  createdAt: Date;
  /** When its person last proved who they are. */
  provedAt: Date;
  usedAt: Date;
}

export async function insertSession({ tokenHash, ...session }: Session & { tokenHash: Uint8Array }, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO sessions (id, token_hash, email, way, agent, both_factors, created_at, proved_at, used_at)
    VALUES (${session.id}, ${tokenHash}, ${session.email}, ${session.way}, ${session.agent}, ${session.bothFactors},
      ${session.createdAt}, ${session.provedAt}, ${session.usedAt})`;
}

/** Sessions of an account that is not active are not found. */
export async function selectSession(tokenHash: Uint8Array, sql: Queries): Promise<Session | undefined> {
  const [row] = await sql<Session[]>`
    ${sessionColumns(sql)} LEFT JOIN accounts a ON a.email = s.email
    WHERE s.token_hash = ${tokenHash} AND (s.email IS NULL OR a.state = 'active')`;
  return row;
}

/** Sessions of a person, the last used first. */
export async function selectSessionsOf(email: string, sql: Queries): Promise<Session[]> {
  return sql<Session[]>`${sessionColumns(sql)} WHERE s.email = ${email} ORDER BY s.used_at DESC, s.id LIMIT 100`;
}

export async function updateUse({ id, at }: { id: string; at: Date }, sql: Queries): Promise<void> {
  await sql`UPDATE sessions SET used_at = ${at} WHERE id = ${id}`;
}

/** @param email null: any */
export async function deleteSession({ id, email }: { id: string; email: string | null }, sql: Queries): Promise<boolean> {
  const deleted = await sql`DELETE FROM sessions WHERE id = ${id} ${email === null ? sql`` : sql`AND email = ${email}`}`;
  return deleted.count === 1;
}

/** The session's person has now given a second factor. */
export async function updateBothFactors(id: string, sql: Queries): Promise<void> {
  await sql`UPDATE sessions SET both_factors = true WHERE id = ${id}`;
}

/** After a person's second factor is removed, only sessions for which a provider vouched count as both factors. */
export async function forgetBothFactors(email: string, tx: Transaction): Promise<void> {
  await tx`UPDATE sessions SET both_factors = false WHERE email = ${email} AND way <> 'oidc'`;
}

/** Ends the links of one workspace's invitation; a person's other links stay. */
export async function deleteInvitationLinks(
  { email, workspace }: { email: string; workspace: WorkspaceId },
  tx: Transaction,
): Promise<void> {
  await tx`DELETE FROM sign_in_links WHERE email = ${email} AND workspace_id = ${workspace}`;
}

/** Ends all sessions of a person, and their links. @param except the id of a session that stays */
export async function deleteSessionsOf(
  { email, except = "" }: { email: string; except?: string },
  tx: Transaction,
): Promise<void> {
  await tx`DELETE FROM sessions WHERE email = ${email} AND id <> ${except}`;
  await tx`DELETE FROM sign_in_links WHERE email = ${email}`;
}

/** Ends the sessions of a person that were used longest ago. @param kept how many stay; @param email null: the operator's */
export async function deleteOldSessions({ email, kept }: { email: string | null; kept: number }, sql: Queries): Promise<void> {
  await sql`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE email IS NOT DISTINCT FROM ${email} ORDER BY used_at DESC, id DESC OFFSET ${kept})`;
}

/** Deletes what has expired. */
export async function deleteExpired(
  { created, used, tried, now }: Record<"created" | "used" | "tried" | "now", Date>,
  sql: Queries,
): Promise<void> {
  await sql`DELETE FROM sessions WHERE created_at <= ${created} OR used_at <= ${used}`;
  await sql`DELETE FROM sign_in_links WHERE expires_at <= ${now}`;
  await sql`DELETE FROM sign_in_tries WHERE since <= ${tried}`;
}

/** handed: of an invitation, given out by an admin. */
export type LinkPurpose = "start" | "sign in" | "invitation" | "handed" | "password";

export interface SignInLink {
  email: string;
  purpose: LinkPurpose;
  /** The workspace of an invitation; null: the link is not for one. */
  workspace: WorkspaceId | null;
}

interface NewLink extends SignInLink {
  tokenHash: Uint8Array;
  createdAt: Date;
  expiresAt: Date;
}

export async function insertLink({ tokenHash, ...link }: NewLink, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO sign_in_links (token_hash, email, purpose, workspace_id, created_at, expires_at)
    VALUES (${tokenHash}, ${link.email}, ${link.purpose}, ${link.workspace}, ${link.createdAt}, ${link.expiresAt})`;
}

/** A link that has not expired, of an active account. */
export async function selectLink(
  { tokenHash, now }: { tokenHash: Uint8Array; now: Date },
  sql: Queries,
): Promise<SignInLink | undefined> {
  const [row] = await sql<SignInLink[]>`
    SELECT l.email, l.purpose, l.workspace_id AS workspace FROM sign_in_links l JOIN accounts a ON a.email = l.email
    WHERE l.token_hash = ${tokenHash} AND l.expires_at > ${now} AND a.state = 'active'`;
  return row;
}

/** A person's links for one purpose that have not expired. */
export async function countLinks(
  { email, purpose, now }: Omit<SignInLink, "workspace"> & { now: Date },
  sql: Queries,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM sign_in_links
    WHERE email = ${email} AND purpose = ${purpose} AND expires_at > ${now}`;
  return row?.count ?? 0;
}

/** @returns false if another use was first */
export async function deleteLink(tokenHash: Uint8Array, tx: Transaction): Promise<boolean> {
  const deleted = await tx`DELETE FROM sign_in_links WHERE token_hash = ${tokenHash}`;
  return deleted.count === 1;
}

/** The hash of an active account's password; null: there is no such account, or it has none. */
export async function selectPasswordHash(email: string, sql: Queries): Promise<string | null> {
  const [row] = await sql<{ hash: string | null }[]>`
    SELECT password_hash AS hash FROM accounts WHERE email = ${email} AND state = 'active'`;
  return row?.hash ?? null;
}

export async function updatePasswordHash({ email, hash }: { email: string; hash: string }, tx: Transaction): Promise<void> {
  await tx`UPDATE accounts SET password_hash = ${hash} WHERE email = ${email}`;
}

interface Counted {
  /** The digest of what the tries are counted for. */
  subject: Uint8Array;
  now: Date;
  /** Tries that began at this time or earlier have expired. */
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

/** @returns the tries that currently count, and when the first one was; undefined: none */
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

function sessionColumns(sql: Queries) {
  return sql`
    SELECT s.id, s.email, s.way, s.agent, s.both_factors AS "bothFactors", s.created_at AS "createdAt", s.proved_at AS "provedAt", s.used_at AS "usedAt"
    FROM sessions s`;
}
