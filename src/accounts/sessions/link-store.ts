import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

export type LinkPurpose = "sign in" | "invitation" | "password";

export interface SignInLink {
  email: string;
  purpose: LinkPurpose;
  /** The workspace of an invitation; null: it is of none. */
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

/** @returns false if somebody else was first */
export async function deleteLink(tokenHash: Uint8Array, tx: Transaction): Promise<boolean> {
  const deleted = await tx`DELETE FROM sign_in_links WHERE token_hash = ${tokenHash}`;
  return deleted.count === 1;
}
