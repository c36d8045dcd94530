/**
 * The SQL of identities at OpenID Connect providers, and of sign-ins that were used. An account has one identity per issuer.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";

interface Identity {
  issuer: string;
  subject: string;
}

/** @returns false if this sign-in was taken before */
export async function takeSignIn({ id, at, until }: { id: string; at: Date; until: Date }, tx: Transaction): Promise<boolean> {
  await tx`DELETE FROM oidc_sign_ins WHERE expires_at <= ${at}`;
  const inserted = await tx`INSERT INTO oidc_sign_ins (id, expires_at) VALUES (${id}, ${until}) ON CONFLICT (id) DO NOTHING`;
  return inserted.count === 1;
}

export async function selectLinkedEmail({ issuer, subject }: Identity, sql: Queries): Promise<string | undefined> {
  const [row] = await sql<{ email: string }[]>`
    SELECT email FROM oidc_identities WHERE issuer = ${issuer} AND subject = ${subject}`;
  return row?.email;
}

/** Whether the account is active and its person an active member of a workspace, or invited to one. */
export async function isActivePerson(email: string, sql: Queries): Promise<boolean> {
  const rows = await sql`
    SELECT 1 FROM accounts a WHERE a.email = ${email} AND a.state = 'active'
      AND EXISTS (SELECT 1 FROM members m WHERE m.email = a.email AND (m.active OR m.consent = 'asked'))`;
  return rows.length === 1;
}

/** @returns false if the account has another identity of this issuer */
export async function insertIdentity(
  { issuer, subject, email, at }: Identity & { email: string; at: Date },
  tx: Transaction,
): Promise<boolean> {
  const inserted = await tx`
    INSERT INTO oidc_identities (issuer, subject, email, linked_at) VALUES (${issuer}, ${subject}, ${email}, ${at})
    ON CONFLICT DO NOTHING`;
  return inserted.count === 1;
}

/** @returns whether there were any */
export async function deleteIdentitiesOf(email: string, tx: Transaction): Promise<boolean> {
  const deleted = await tx`DELETE FROM oidc_identities WHERE email = ${email}`;
  return deleted.count > 0;
}
