/**
 * The SQL of tickets and their files. A lock on the fingerprint keeps a repeated ticket from being logged twice. Lists are newest
 * first; ids break ties, so that pages neither repeat nor lose rows.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { TicketStatus, TicketType } from "./schema.ts";

/** The person who owns a ticket or a file, in a workspace. */
export interface TicketOwner {
  workspace: WorkspaceId;
  owner: string;
}

interface NewTicket extends TicketOwner {
  id: string;
  reference: string;
  type: TicketType;
  subject: string;
  details: Record<string, unknown>;
  /** SHA-256 in hexadecimal. */
  fingerprint: string;
  at: Date;
}

export interface TicketRecord {
  id: string;
  reference: string;
  type: TicketType;
  subject: string;
  status: TicketStatus;
  createdAt: Date;
  updatedAt: Date;
}

/** The same ticket, if logged after a given time. Until the transaction ends, no other call logs a ticket with this fingerprint. */
export async function lockDuplicate(
  { fingerprint, after }: { fingerprint: string; after: Date },
  tx: Transaction,
): Promise<TicketRecord | undefined> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${fingerprint}, 0))`;
  const [row] = await tx<TicketRecord[]>`
    ${columns(tx)} WHERE fingerprint = decode(${fingerprint}, 'hex') AND created_at > ${after} ORDER BY created_at DESC LIMIT 1`;
  return row;
}

/** @returns false if the reference is in use */
export async function insertTicket(ticket: NewTicket, tx: Transaction): Promise<boolean> {
  const rows = await tx`
    INSERT INTO tickets (id, reference, workspace_id, owner_email, type, subject, details, fingerprint, created_at, updated_at)
    VALUES (${ticket.id}, ${ticket.reference}, ${ticket.workspace}, ${ticket.owner}, ${ticket.type}, ${ticket.subject},
      ${JSON.stringify(ticket.details)}::text::jsonb, decode(${ticket.fingerprint}, 'hex'), ${ticket.at}, ${ticket.at})
    ON CONFLICT (reference) DO NOTHING
    RETURNING id`;
  return rows.length === 1;
}

interface TicketFilter extends TicketOwner {
  /** null: any. */
  type: TicketType | null;
  status: TicketStatus | null;
}

/** Newest first; ids break ties, so that pages neither repeat nor lose rows. */
export async function selectTickets(
  { limit, offset, ...filter }: TicketFilter & { limit: number; offset: number },
  sql: Queries,
): Promise<TicketRecord[]> {
  return sql<TicketRecord[]>`
    ${columns(sql)} ${matching(filter, sql)} ORDER BY created_at DESC, id DESC LIMIT ${limit} OFFSET ${offset}`;
}

export async function countTickets(filter: TicketFilter, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM tickets ${matching(filter, sql)}`;
  return row?.count ?? 0;
}

export interface AttachmentRow {
  id: string;
  name: string;
  sizeBytes: number;
  /** In hexadecimal. */
  sha256: string;
  ticket: string | null;
}

export async function insertAttachment(attachment: AttachmentRow & TicketOwner & { at: Date }, sql: Queries): Promise<void> {
  await sql`
    INSERT INTO ticket_attachments (id, workspace_id, owner_email, name, size_bytes, sha256, created_at)
    VALUES (${attachment.id}, ${attachment.workspace}, ${attachment.owner}, ${attachment.name}, ${attachment.sizeBytes},
      decode(${attachment.sha256}, 'hex'), ${attachment.at})`;
}

/** A file that its owner sent before the ticket; locked until the transaction ends. */
export async function lockAttachment(
  { id, workspace, owner }: TicketOwner & { id: string },
  tx: Transaction,
): Promise<AttachmentRow | undefined> {
  const [row] = await tx<AttachmentRow[]>`
    SELECT id, name, size_bytes::integer AS "sizeBytes", encode(sha256, 'hex') AS sha256, ticket_id AS ticket
    FROM ticket_attachments WHERE id = ${id} AND workspace_id = ${workspace} AND owner_email = ${owner}
    FOR UPDATE`;
  return row;
}

export async function selectAttachmentOf(ticket: string, sql: Queries): Promise<AttachmentRow | undefined> {
  const [row] = await sql<AttachmentRow[]>`
    SELECT id, name, size_bytes::integer AS "sizeBytes", encode(sha256, 'hex') AS sha256, ticket_id AS ticket
    FROM ticket_attachments WHERE ticket_id = ${ticket}`;
  return row;
}

/** @returns false if another ticket has it */
export async function updateAttachmentTicket({ id, ticket }: { id: string; ticket: string }, tx: Transaction): Promise<boolean> {
  const rows = await tx`
    UPDATE ticket_attachments SET ticket_id = ${ticket} WHERE id = ${id} AND ticket_id IS NULL RETURNING id`;
  return rows.length === 1;
}

/** The stored files of a workspace. */
export interface StoredFiles {
  /** How many files of this person have no ticket. */
  own: number;
  /** Bytes of files without a ticket; `bytes` includes all files. */
  unusedBytes: number;
  bytes: number;
  /** When the oldest file without a ticket was sent; null: there is none. */
  oldestUnused: Date | null;
}

export async function selectStoredFiles({ workspace, owner }: TicketOwner, sql: Queries): Promise<StoredFiles> {
  const [row] = await sql<StoredFiles[]>`
    SELECT (count(*) FILTER (WHERE ticket_id IS NULL AND owner_email = ${owner}))::integer AS own,
      coalesce(sum(size_bytes) FILTER (WHERE ticket_id IS NULL), 0)::double precision AS "unusedBytes",
      coalesce(sum(size_bytes), 0)::double precision AS bytes,
      min(created_at) FILTER (WHERE ticket_id IS NULL) AS "oldestUnused"
    FROM ticket_attachments WHERE workspace_id = ${workspace}`;
  return row ?? { own: 0, unusedBytes: 0, bytes: 0, oldestUnused: null };
}

/** When the ticket at `offset` was logged, among the workspace's tickets after a given time, newest first; undefined: there are fewer. */
export async function selectLoggedAt(
  { workspace, after, offset, mailed }: { workspace: WorkspaceId; after: Date; offset: number; mailed: boolean },
  sql: Queries,
): Promise<Date | undefined> {
  const [row] = await sql<{ at: Date }[]>`
    SELECT created_at AS at FROM tickets
    WHERE workspace_id = ${workspace} AND created_at > ${after} ${mailed ? sql`AND type <> 'support'` : sql``}
    ORDER BY created_at DESC LIMIT 1 OFFSET ${offset}`;
  return row?.at;
}

/** @returns the ids of the deleted files */
export async function deleteUnused(before: Date, sql: Queries): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    DELETE FROM ticket_attachments WHERE ticket_id IS NULL AND created_at < ${before} RETURNING id`;
  return rows.map(({ id }) => id);
}

export interface WorkspaceTicketFilter {
  workspace: WorkspaceId;
  /** null: everyone. */
  owner: string | null;
  type: TicketType | null;
  status: TicketStatus | null;
  /** Part of the reference or the subject, in any case; null: any. */
  text: string | null;
}

interface Page {
  /** The id of the last ticket of the previous page; null: the first page. */
  before: string | null;
  limit: number;
}

type OwnedTicket = TicketRecord & { owner: string };

/** Newest first. @param before a ticket that `ticketExists` has found */
export async function selectWorkspaceTickets(
  { workspace, owner, type, status, text, before, limit }: WorkspaceTicketFilter & Page,
  sql: Queries,
): Promise<OwnedTicket[]> {
  return sql<OwnedTicket[]>`
    SELECT id, reference, owner_email AS owner, type, subject, status, created_at AS "createdAt", updated_at AS "updatedAt"
    FROM tickets
    WHERE workspace_id = ${workspace}
      ${owner === null ? sql`` : sql`AND owner_email = ${owner}`}
      ${type === null ? sql`` : sql`AND type = ${type}`}
      ${status === null ? sql`` : sql`AND status = ${status}`}
      ${text === null ? sql`` : sql`AND (strpos(lower(reference), lower(${text})) > 0 OR strpos(lower(subject), lower(${text})) > 0)`}
      ${before === null ? sql`` : sql`AND (created_at, id) < (SELECT created_at, id FROM tickets WHERE id = ${before})`}
    ORDER BY created_at DESC, id DESC LIMIT ${limit}`;
}

interface DetailedTicket extends OwnedTicket {
  /** The fields as they were sent. */
  details: Record<string, unknown>;
}

type NamedTicket = Pick<WorkspaceTicketFilter, "workspace" | "owner"> & { id: string };

/** undefined: there is none, or it is another person's. */
export async function selectTicket({ id, workspace, owner }: NamedTicket, sql: Queries): Promise<DetailedTicket | undefined> {
  const [row] = await sql<DetailedTicket[]>`
    SELECT id, reference, owner_email AS owner, type, subject, status, details, created_at AS "createdAt", updated_at AS "updatedAt"
    FROM tickets
    WHERE id = ${id} AND workspace_id = ${workspace} ${owner === null ? sql`` : sql`AND owner_email = ${owner}`}`;
  return row;
}

/** Reads the status and locks it until the transaction ends; undefined: there is no such ticket. */
export async function lockTicketStatus(
  { id, workspace }: Omit<NamedTicket, "owner">,
  tx: Transaction,
): Promise<TicketStatus | undefined> {
  const [row] = await tx<{ status: TicketStatus }[]>`
    SELECT status FROM tickets WHERE id = ${id} AND workspace_id = ${workspace} FOR UPDATE`;
  return row?.status;
}

export async function updateTicketStatus(
  { id, status, at }: { id: string; status: TicketStatus; at: Date },
  tx: Transaction,
): Promise<void> {
  await tx`UPDATE tickets SET status = ${status}, updated_at = ${at} WHERE id = ${id}`;
}

export async function ticketExists({ id, workspace, owner }: NamedTicket, sql: Queries): Promise<boolean> {
  const rows = await sql`
    SELECT FROM tickets WHERE id = ${id} AND workspace_id = ${workspace} ${owner === null ? sql`` : sql`AND owner_email = ${owner}`}`;
  return rows.length > 0;
}

function columns(sql: Queries) {
  return sql`
    SELECT id, reference, type, subject, status, created_at AS "createdAt", updated_at AS "updatedAt" FROM tickets`;
}

function matching({ workspace, owner, type, status }: TicketFilter, sql: Queries) {
  return sql`
    WHERE workspace_id = ${workspace} AND owner_email = ${owner}
      ${type === null ? sql`` : sql`AND type = ${type}`}
      ${status === null ? sql`` : sql`AND status = ${status}`}`;
}
