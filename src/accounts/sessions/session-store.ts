/** SQL of sessions. It precedes accounts and members, whose changes end sessions in their own transaction. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Session } from "./session.ts";

export async function insertSession({ tokenHash, ...session }: Session & { tokenHash: Uint8Array }, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO sessions (id, token_hash, email, way, agent, both_factors, created_at, proved_at, used_at)
    VALUES (${session.id}, ${tokenHash}, ${session.email}, ${session.way}, ${session.agent}, ${session.bothFactors},
      ${session.createdAt}, ${session.provedAt}, ${session.usedAt})`;
}

/** Sessions of an account that is not active are not found. */
export async function selectSession(tokenHash: Uint8Array, sql: Queries): Promise<Session | undefined> {
  const [row] = await sql<Session[]>`
    ${columns(sql)} LEFT JOIN accounts a ON a.email = s.email
    WHERE s.token_hash = ${tokenHash} AND (s.email IS NULL OR a.state = 'active')`;
  return row;
}

/** Sessions of a person, the last used first. */
export async function selectSessionsOf(email: string, sql: Queries): Promise<Session[]> {
  return sql<Session[]>`${columns(sql)} WHERE s.email = ${email} ORDER BY s.used_at DESC, s.id LIMIT 100`;
}

function columns(sql: Queries) {
  return sql`
    SELECT s.id, s.email, s.way, s.agent, s.both_factors AS "bothFactors", s.created_at AS "createdAt", s.proved_at AS "provedAt", s.used_at AS "usedAt"
    FROM sessions s`;
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

/** After a person's second factor is gone, only sessions for which a provider vouched stand for both. */
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
