import { arrayText } from "../../backing/sql-text.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { firstAlertId, type WorkspaceId } from "../../kernel/ids.ts";
import { managers } from "../workspaces/authorize.ts";

export interface AlertRow {
  id: string;
  workspace: WorkspaceId;
  kind: string;
  /** Empty: no rule. */
  rule: string;
  /** The id of what it is about; empty: the workspace. */
  subject: string;
  period: string;
  percent: number;
  text: string;
  body: string;
  mails: number;
}

/** @returns the ids of those that were not told before */
export async function insertAlerts(rows: readonly AlertRow[], tx: Transaction): Promise<string[]> {
  const texts = (read: (row: AlertRow) => string) => arrayText(rows, read);
  const inserted = await tx<{ id: string }[]>`
    INSERT INTO alerts (id, workspace_id, kind, rule_id, subject, period, percent, text, body, mails)
    SELECT * FROM unnest(
      ${texts(({ id }) => id)}::text::text[], ${texts(({ workspace }) => workspace)}::text::text[],
      ${texts(({ kind }) => kind)}::text::text[], ${texts(({ rule }) => rule)}::text::text[],
      ${texts(({ subject }) => subject)}::text::text[], ${texts(({ period }) => period)}::text::text[],
      ${arrayText(rows, ({ percent }) => percent)}::text::smallint[], ${texts(({ text }) => text)}::text::text[],
      ${texts(({ body }) => body)}::text::text[], ${arrayText(rows, ({ mails }) => mails)}::text::integer[])
    ON CONFLICT (workspace_id, kind, rule_id, subject, period, percent) DO NOTHING
    RETURNING id`;
  return inserted.map(({ id }) => id);
}

/** The admins who are told, in order of addresses. */
export async function selectAdmins(
  { workspace, limit }: { workspace: WorkspaceId; limit: number },
  sql: Queries,
): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT m.email FROM members m JOIN accounts a ON a.email = m.email AND a.state = 'active'
    WHERE m.workspace_id = ${workspace} AND m.active AND m.role = ANY(${managers.slice()}::text[]) ORDER BY m.email LIMIT ${limit}`;
  return rows.map(({ email }) => email);
}

/** Those of the addresses that belong to active members. */
export async function selectActive(
  { workspace, emails }: { workspace: WorkspaceId; emails: string[] },
  sql: Queries,
): Promise<string[]> {
  if (emails.length === 0) return [];
  const rows = await sql<{ email: string }[]>`
    SELECT m.email FROM members m JOIN accounts a ON a.email = m.email AND a.state = 'active'
    WHERE m.workspace_id = ${workspace} AND m.active AND m.email = ANY(${emails}::text[])`;
  return rows.map(({ email }) => email);
}

export interface ListedAlert extends Pick<AlertRow, "id" | "workspace" | "kind" | "text" | "mails"> {
  deliveries: {
    webhook: string;
    state: "waiting" | "delivered" | "given_up";
    attempts: number;
    status: number | null;
    failure: string | null;
    /** Milliseconds. */
    triedAt: number | null;
    dueAt: number;
  }[];
}

const columns = (sql: Queries) => sql`
  id, workspace_id AS workspace, kind, text, mails, (
    SELECT coalesce(json_agg(json_build_object('webhook', webhook_id, 'state', state, 'attempts', attempts, 'status', status,
      'failure', failure, 'triedAt', floor(date_part('epoch', tried_at) * 1000), 'dueAt', floor(date_part('epoch', due_at) * 1000))
      ORDER BY webhook_id), '[]')
    FROM alert_deliveries WHERE alert_id = alerts.id) AS deliveries`;

export async function selectAlert(id: string, sql: Queries): Promise<ListedAlert | undefined> {
  const [row] = await sql<ListedAlert[]>`SELECT ${columns(sql)} FROM alerts WHERE id = ${id}`;
  return row;
}

/** Newest first. @param webhook null: also those without a delivery to it */
export async function selectAlerts(
  { workspace, webhook, before, limit }: { workspace: WorkspaceId; webhook: string | null; before: string | null; limit: number },
  sql: Queries,
): Promise<ListedAlert[]> {
  return sql<ListedAlert[]>`
    SELECT ${columns(sql)} FROM alerts
    WHERE workspace_id = ${workspace} ${before === null ? sql`` : sql`AND id < ${before}`}
      ${webhook === null ? sql`` : sql`AND EXISTS (SELECT FROM alert_deliveries WHERE alert_id = alerts.id AND webhook_id = ${webhook})`}
    ORDER BY id DESC LIMIT ${limit}`;
}

/** Deletes the oldest alerts from before a time, with their deliveries. */
export async function deleteAlertsBefore({ ms, limit }: { ms: number; limit: number }, sql: Queries): Promise<void> {
  await sql`
    DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE id < ${firstAlertId(ms)} ORDER BY id LIMIT ${limit})`;
}
