/**
 * The SQL of accounts and of their memberships in workspaces. A membership is locked while its role, limit or state changes, even
 * against new keys of the member.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { Month } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { managers, type Role } from "../audit/actor.ts";
import type { SavedList, SavedView } from "../workspaces/schema.ts";

/** The state of a person in all workspaces. */
export type AccountState = "active" | "suspended" | "locked" | "deleted";

/**
 * The person's consent to a membership. asked: they have not answered. declined: they refused. none: the workspace withdrew the invitation.
 * Only a membership with given consent is ever active.
 */
type Consent = "given" | "asked" | "declined" | "none";

export interface MemberRow {
  email: string;
  role: Role;
  /** Whether the membership in this workspace is active. */
  active: boolean;
  consent: Consent;
  /** When the workspace last invited the person; null: it never had to. */
  askedAt: Date | null;
  /** When the person last used this workspace in the Console, to the minute; null: never. */
  seenAt: Date | null;
  account: AccountState;
  /** What all their keys and the Workbench may spend in a month; null: no limit. */
  monthlyLimit: NanoUsd | null;
}

interface NewMember {
  workspace: WorkspaceId;
  email: string;
  role: Role;
  /** The admin who invites the person; null: the membership is in force at once. */
  askedBy: string | null;
  at: Date;
}

/** Adds a membership, and the account of a new person. @returns false if the membership exists */
export async function insertMember({ workspace, email, role, askedBy, at }: NewMember, tx: Transaction): Promise<boolean> {
  await tx`INSERT INTO accounts (email, created_at) VALUES (${email}, ${at}) ON CONFLICT (email) DO NOTHING`;
  const isAsked = askedBy !== null;
  const inserted = await tx`
    INSERT INTO members (workspace_id, email, role, created_at, active, consent, asked_at, asked_by)
    VALUES (${workspace}, ${email}, ${role}, ${at}, ${!isAsked}, ${isAsked ? "asked" : "given"}, ${isAsked ? at : null}, ${askedBy})
    ON CONFLICT (workspace_id, email) DO NOTHING`;
  return inserted.count === 1;
}

/** Offers a membership that was not accepted again, or puts it in force. */
export async function offerAgain({ workspace, email, role, askedBy, at }: NewMember, tx: Transaction): Promise<void> {
  const isAsked = askedBy !== null;
  await tx`
    UPDATE members SET role = ${role}, active = ${!isAsked}, consent = ${isAsked ? "asked" : "given"},
      asked_at = ${isAsked ? at : null}, asked_by = ${askedBy}
    WHERE workspace_id = ${workspace} AND email = ${email}`;
}

/** In order of addresses. @param email null: all members */
export async function selectMembers(
  { workspace, email }: { workspace: WorkspaceId; email: string | null },
  sql: Queries,
): Promise<MemberRow[]> {
  return sql<MemberRow[]>`
    ${columns(sql)} WHERE m.workspace_id = ${workspace} ${email === null ? sql`` : sql`AND m.email = ${email}`}
    ORDER BY m.email`;
}

/** The addresses of a workspace's active admins, in order. */
export async function selectManagers(
  { workspace, limit }: { workspace: WorkspaceId; limit: number },
  sql: Queries,
): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT m.email FROM members m JOIN accounts a ON a.email = m.email
    WHERE m.workspace_id = ${workspace} AND m.active AND m.role = ANY(${managers.slice()}::text[]) AND a.state = 'active'
    ORDER BY m.email LIMIT ${limit}`;
  return rows.map(({ email }) => email);
}

/** The id that stands for the member as the caller of requests in the Workbench; undefined: no such member. */
export async function selectCallerId(
  { workspace, email }: { workspace: WorkspaceId; email: string },
  sql: Queries,
): Promise<KeyId | undefined> {
  const [row] = await sql<{ id: KeyId }[]>`
    SELECT caller_id AS id FROM members WHERE workspace_id = ${workspace} AND email = ${email}`;
  return row?.id;
}

export interface ListedMemberRow extends MemberRow {
  activeKeys: number;
  /** Charged in the requested month to their keys, including revoked ones, and for their requests from the Workbench. */
  monthSpent: NanoUsd;
}

/** In order of addresses. @param email null: all members @param after the last address of the page before */
export async function selectListedMembers(
  {
    workspace,
    month,
    email,
    text,
    after,
    limit,
  }: {
    workspace: WorkspaceId;
    month: Month;
    email: string | null;
    text: string | null;
    after: string | null;
    limit: number;
  },
  sql: Queries,
): Promise<ListedMemberRow[]> {
  return sql<ListedMemberRow[]>`
    SELECT ${fields(sql)},
      (SELECT count(*) FROM api_keys k
        WHERE k.workspace_id = m.workspace_id AND k.owner_email = m.email AND k.revoked_at IS NULL)::integer AS "activeKeys",
      (SELECT coalesce(sum(spent_nano), 0) FROM key_months WHERE month = ${month} AND key_id IN (
        SELECT k.id FROM api_keys k WHERE k.workspace_id = m.workspace_id AND k.owner_email = m.email
        UNION ALL SELECT m.caller_id))::bigint AS "monthSpent"
    FROM members m JOIN accounts a ON a.email = m.email
    WHERE m.workspace_id = ${workspace}
      ${email === null ? sql`` : sql`AND m.email = ${email}`}
      ${text === null ? sql`` : sql`AND strpos(m.email, lower(${text})) > 0`}
      ${after === null ? sql`` : sql`AND m.email > ${after}`}
    ORDER BY m.email
    LIMIT ${limit}`;
}

/** Reads a membership and locks it until the transaction ends, even against new keys of the member. */
export async function lockMember(
  { workspace, email }: { workspace: WorkspaceId; email: string },
  tx: Transaction,
): Promise<MemberRow | undefined> {
  const [row] = await tx<MemberRow[]>`
    ${columns(tx)} WHERE m.workspace_id = ${workspace} AND m.email = ${email} FOR NO KEY UPDATE OF m`;
  return row;
}

export async function updateMember(
  workspace: WorkspaceId,
  { email, role, active, consent, monthlyLimit }: MemberRow,
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE members SET role = ${role}, active = ${active}, consent = ${consent}, monthly_spend_limit_nano = ${monthlyLimit}
    WHERE workspace_id = ${workspace} AND email = ${email}`;
}

export async function updateSeen(
  { workspace, email, at }: { workspace: WorkspaceId; email: string; at: Date },
  sql: Queries,
): Promise<void> {
  await sql`UPDATE members SET seen_at = ${at} WHERE workspace_id = ${workspace} AND email = ${email}`;
}

/** Reads the state of an account and locks it until the transaction ends; undefined: there is none. */
export async function lockAccount(email: string, tx: Transaction): Promise<AccountState | undefined> {
  const [row] = await tx<{ state: AccountState }[]>`SELECT state FROM accounts WHERE email = ${email} FOR NO KEY UPDATE`;
  return row?.state;
}

export async function updateAccount(email: string, state: AccountState, tx: Transaction): Promise<void> {
  await tx`UPDATE accounts SET state = ${state} WHERE email = ${email}`;
}

/** The workspaces in which a person is active, with their role there. Others learn nothing of the person's account. */
export async function selectMemberships(email: string, sql: Queries): Promise<{ workspace: WorkspaceId; role: Role }[]> {
  return sql<{ workspace: WorkspaceId; role: Role }[]>`
    SELECT workspace_id AS workspace, role FROM members WHERE email = ${email} AND active ORDER BY workspace_id`;
}

interface NamedMembership {
  id: WorkspaceId;
  /** The workspace's. */
  name: string;
  role: Role;
  /** false: it waits for the person's consent. */
  active: boolean;
  /** The admin who last invited the person; null: no invitation was needed. */
  askedBy: string | null;
}

/** The workspaces in which a person is active, then those that have invited them, each in order of names. */
export async function selectNamedMemberships(
  { email, limit }: { email: string; limit: number },
  sql: Queries,
): Promise<NamedMembership[]> {
  return sql<NamedMembership[]>`
    SELECT w.id, w.name, m.role, m.active, m.asked_by AS "askedBy" FROM members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.email = ${email} AND (m.active OR m.consent = 'asked') ORDER BY m.active DESC, w.name LIMIT ${limit}`;
}

/** A person's named workspace, or else the first one that they joined. @param named an id or a name */
export async function selectLaneWorkspace(
  { email, named }: { email: string; named: string },
  sql: Queries,
): Promise<WorkspaceId | undefined> {
  const [row] = await sql<{ id: WorkspaceId }[]>`
    SELECT w.id FROM members m JOIN workspaces w ON w.id = m.workspace_id
    WHERE m.email = ${email} AND m.active
    ORDER BY (w.id = ${named} OR w.name = ${named}) DESC, m.created_at, w.id LIMIT 1`;
  return row?.id;
}

/** Reads the addresses of the active super admins, and locks their memberships until the transaction ends. */
export async function lockSuperAdmins(workspace: WorkspaceId, tx: Transaction): Promise<string[]> {
  const rows = await tx<{ email: string }[]>`
    SELECT m.email FROM members m JOIN accounts a ON a.email = m.email
    WHERE m.workspace_id = ${workspace} AND m.role = 'super_admin' AND m.active AND a.state = 'active'
    ORDER BY m.email FOR NO KEY UPDATE OF m`;
  return rows.map(({ email }) => email);
}

function columns(sql: Queries) {
  return sql`SELECT ${fields(sql)} FROM members m JOIN accounts a ON a.email = m.email`;
}

function fields(sql: Queries) {
  return sql`
    m.email, m.role, m.active, m.consent, m.asked_at AS "askedAt", m.seen_at AS "seenAt", a.state AS account, m.monthly_spend_limit_nano AS "monthlyLimit"`;
}

export async function hasSeveralWorkspaces(sql: Queries): Promise<boolean> {
  return (await sql`SELECT FROM workspaces LIMIT 2`).length > 1;
}

/** Whether the person has signed in before, could do so without a link, or is a member somewhere. */
export async function isEstablished(email: string, sql: Queries): Promise<boolean> {
  const found = await sql`
    SELECT FROM accounts a WHERE a.email = ${email} AND (a.password_hash IS NOT NULL
      OR EXISTS (SELECT FROM oidc_identities WHERE email = a.email) OR EXISTS (SELECT FROM sessions WHERE email = a.email)
      OR EXISTS (SELECT FROM members WHERE email = a.email AND consent = 'given'))`;
  return found.length > 0;
}

// Views of lists that members save

interface ViewOwner {
  workspace: WorkspaceId;
  email: string;
}

const viewColumns = (sql: Queries) => sql`id, list, name, query, is_default AS "default"`;

/** By list and name. @param list null: those of all lists */
export function selectViews(
  { workspace, email, list }: ViewOwner & { list: SavedList | null },
  sql: Queries,
): Promise<SavedView[]> {
  return sql<SavedView[]>`
    SELECT ${viewColumns(sql)} FROM saved_views
    WHERE workspace_id = ${workspace} AND email = ${email} ${list === null ? sql`` : sql`AND list = ${list}`} ORDER BY list, name`;
}

export interface DefaultView extends Pick<SavedView, "list" | "query"> {
  workspace: WorkspaceId;
}

/** With what the menu opens a person's lists, in all workspaces. */
export function selectDefaultViews({ email, limit }: { email: string; limit: number }, sql: Queries): Promise<DefaultView[]> {
  return sql<DefaultView[]>`
    SELECT workspace_id AS workspace, list, query FROM saved_views WHERE email = ${email} AND is_default LIMIT ${limit}`;
}

/** Locks a person's views of a workspace against other changes until the transaction ends. */
export async function lockViews({ workspace, email }: ViewOwner, tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`views of ${email} in ${workspace}`}, 0))`;
}

export async function clearDefaultView(
  { workspace, email, list }: ViewOwner & { list: SavedList },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE saved_views SET is_default = false WHERE workspace_id = ${workspace} AND email = ${email} AND list = ${list} AND is_default`;
}

export async function upsertView(
  { workspace, email, id, list, name, query, default: isDefault }: ViewOwner & SavedView,
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO saved_views (id, workspace_id, email, list, name, query, is_default)
    VALUES (${id}, ${workspace}, ${email}, ${list}, ${name}, ${query}, ${isDefault})
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, query = excluded.query, is_default = excluded.is_default`;
}

/** @returns undefined if the person has no such view in the workspace */
export async function deleteView(
  { workspace, email, id }: ViewOwner & { id: string },
  sql: Queries,
): Promise<SavedView | undefined> {
  const [view] = await sql<SavedView[]>`
    DELETE FROM saved_views WHERE workspace_id = ${workspace} AND email = ${email} AND id = ${id} RETURNING ${viewColumns(sql)}`;
  return view;
}

export async function deleteViewsOf(email: string, tx: Transaction): Promise<void> {
  await tx`DELETE FROM saved_views WHERE email = ${email}`;
}
