import type { Queries, Transaction } from "../../../backing/backing.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";

export interface AlertWebhook {
  id: string;
  workspace: WorkspaceId;
  url: string;
  createdAt: Date;
  /** Until when the former secret signs as well; null: only one signs. */
  formerUntil: Date | null;
}

const columns = (sql: Queries) => sql`
  id, workspace_id AS workspace, url, created_at AS "createdAt", former_until AS "formerUntil"`;

/** In order of creation. */
export async function selectWebhooks(workspace: WorkspaceId, sql: Queries): Promise<AlertWebhook[]> {
  return sql<AlertWebhook[]>`SELECT ${columns(sql)} FROM alert_webhooks WHERE workspace_id = ${workspace} ORDER BY id`;
}

export async function selectWebhook(id: string, sql: Queries): Promise<AlertWebhook | undefined> {
  const [row] = await sql<AlertWebhook[]>`SELECT ${columns(sql)} FROM alert_webhooks WHERE id = ${id}`;
  return row;
}

/** Reads a webhook and locks it until the transaction ends. */
export async function lockWebhook(id: string, tx: Transaction): Promise<AlertWebhook | undefined> {
  const [row] = await tx<AlertWebhook[]>`SELECT ${columns(tx)} FROM alert_webhooks WHERE id = ${id} FOR UPDATE`;
  return row;
}

export async function insertWebhook(
  { id, workspace, url, sealed, at }: { id: string; workspace: WorkspaceId; url: string; sealed: Uint8Array; at: Date },
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO alert_webhooks (id, workspace_id, url, sealed, created_at)
    VALUES (${id}, ${workspace}, ${url}, ${Buffer.from(sealed)}, ${at})`;
}

/** The present secret becomes the former one; an older one signs no more. */
export async function updateSecret(
  { id, sealed, formerUntil }: { id: string; sealed: Uint8Array; formerUntil: Date },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE alert_webhooks SET former = sealed, former_until = ${formerUntil}, sealed = ${Buffer.from(sealed)} WHERE id = ${id}`;
}

/** With its deliveries. */
export async function deleteWebhookRow(id: string, tx: Transaction): Promise<void> {
  await tx`DELETE FROM alert_webhooks WHERE id = ${id}`;
}

/** Locks the workspace's webhooks against additions until the transaction ends. */
export async function lockWebhooksOf(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`alert webhooks of ${workspace}`}, 0))`;
}
