/**
 * The SQL of the audit log, and the types of what it stores. Rows are numbered in the order of the changes, and are never modified.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Signature } from "./actor.ts";

interface NewAuditRow extends Signature {
  /** Milliseconds. */
  at: number;
  event: string;
  workspace: WorkspaceId | null;
  target: string | null;
  changes: Changes;
}

interface AuditRow extends Omit<NewAuditRow, "at"> {
  /** Rows are numbered in the order of the changes. */
  id: bigint;
  at: Date;
  /** The present name of a target that is a key; null: it is another thing. */
  targetName: string | null;
}

export async function insertAudits(rows: NewAuditRow[], tx: Transaction): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    INSERT INTO audit_events (at, event, actor, role, carried_by, workspace_id, target, changes)
    SELECT at, event, actor, role, "carriedBy", workspace, target, changes
    FROM jsonb_to_recordset(${tx.json(rows.map((row) => ({ ...row, at: isoTime(row.at) })))}) AS new (at timestamptz, event text,
      actor text, role text, "carriedBy" text, workspace text, target text, changes jsonb)`;
}

export interface AuditFilter {
  workspace: WorkspaceId | null;
  event: string | null;
  actor: string | null;
  /** The id or address of the changed thing. */
  target: string | null;
  /** Inclusive. */
  from: Date | null;
  /** Exclusive. */
  to: Date | null;
  /** The last id of the page before; null: from the newest. */
  before: string | null;
  limit: number;
}

/** The id of a workspace's newest row, which is another one after each change; null: nothing has changed yet. */
export async function selectNewestAudit(workspace: WorkspaceId, sql: Queries): Promise<string | null> {
  const [row] = await sql<{ id: string | null }[]>`
    SELECT max(id)::text AS id FROM audit_events WHERE workspace_id = ${workspace}`;
  return row?.id ?? null;
}

/** Newest first. */
export async function selectAudit(
  { workspace, event, actor, target, from, to, before, limit }: AuditFilter,
  sql: Queries,
): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    SELECT id, at, event, actor, role, carried_by AS "carriedBy", workspace_id AS workspace, target, changes,
      (SELECT name FROM api_keys WHERE api_keys.id = audit_events.target) AS "targetName"
    FROM audit_events
    WHERE true
      ${workspace === null ? sql`` : sql`AND workspace_id = ${workspace}`}
      ${event === null ? sql`` : sql`AND event = ${event}`}
      ${actor === null ? sql`` : sql`AND actor = ${actor}`}
      ${target === null ? sql`` : sql`AND target = ${target}`}
      ${from === null ? sql`` : sql`AND at >= ${from}`}
      ${to === null ? sql`` : sql`AND at < ${to}`}
      ${before === null ? sql`` : sql`AND id < ${before}`}
    ORDER BY id DESC
    LIMIT ${limit}`;
}

export type FieldValue = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, FieldValue>>;
export type Changes = Record<string, { from: FieldValue; to: FieldValue }>;
