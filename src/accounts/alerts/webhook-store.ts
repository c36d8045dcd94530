/**
 * The SQL of webhooks and their deliveries. An attempt first postpones the delivery's next attempt: no other process tries it meanwhile,
 * and if this process dies, it is tried again then. A delivery for a full queue is given up at once, and shown as such.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { alertDeliveriesWaitingMax, alertDeliveryMsMax, alertRetryMs, alertRetryMsMax } from "../limits.ts";
import type { WebhookFormatName } from "./webhook-formats.ts";

export interface AlertWebhook {
  id: string;
  workspace: WorkspaceId;
  format: WebhookFormatName;
  name: string;
  url: string;
  createdAt: Date;
  /** When the former secret stops signing; null: only one secret signs. */
  formerUntil: Date | null;
}

const webhookColumns = (sql: Queries) => sql`
  id, workspace_id AS workspace, format, name, url, created_at AS "createdAt", former_until AS "formerUntil"`;

/** In order of creation. */
export async function selectWebhooks(workspace: WorkspaceId, sql: Queries): Promise<AlertWebhook[]> {
  return sql<AlertWebhook[]>`SELECT ${webhookColumns(sql)} FROM alert_webhooks WHERE workspace_id = ${workspace} ORDER BY id`;
}

export async function selectWebhook(id: string, sql: Queries): Promise<AlertWebhook | undefined> {
  const [row] = await sql<AlertWebhook[]>`SELECT ${webhookColumns(sql)} FROM alert_webhooks WHERE id = ${id}`;
  return row;
}

/** Reads a webhook and locks it until the transaction ends. */
export async function lockWebhook(id: string, tx: Transaction): Promise<AlertWebhook | undefined> {
  const [row] = await tx<AlertWebhook[]>`SELECT ${webhookColumns(tx)} FROM alert_webhooks WHERE id = ${id} FOR UPDATE`;
  return row;
}

type NewWebhook = Pick<AlertWebhook, "id" | "workspace" | "format" | "name" | "url"> & { sealed: Uint8Array; at: Date };

export async function insertWebhook(
  { id, workspace, format, name, url, sealed, at }: NewWebhook,
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO alert_webhooks (id, workspace_id, format, name, url, sealed, created_at)
    VALUES (${id}, ${workspace}, ${format}, ${name}, ${url}, ${Buffer.from(sealed)}, ${at})`;
}

/** The current secret becomes the former one; an older one no longer signs. */
export async function updateSecret(
  { id, sealed, formerUntil }: { id: string; sealed: Uint8Array; formerUntil: Date },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE alert_webhooks SET former = sealed, former_until = ${formerUntil}, sealed = ${Buffer.from(sealed)} WHERE id = ${id}`;
}

/** Deletes a webhook with its deliveries. */
export async function deleteWebhookRow(id: string, tx: Transaction): Promise<void> {
  await tx`DELETE FROM alert_webhooks WHERE id = ${id}`;
}

/** Locks the workspace's webhooks against additions until the transaction ends. */
export async function lockWebhooksOf(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`alert webhooks of ${workspace}`}, 0))`;
}

/**
 * Queues alerts for all webhooks of a workspace.
 * @param webhook only this one; null: all
 * @returns how many deliveries wait
 */
export async function insertDeliveries(
  { workspace, alerts, webhook, at }: { workspace: WorkspaceId; alerts: readonly string[]; webhook: string | null; at: Date },
  tx: Transaction,
): Promise<number> {
  if (alerts.length === 0) return 0;
  const queued = await tx<{ state: string }[]>`
    INSERT INTO alert_deliveries (alert_id, webhook_id, state, failure, attempts, due_at, until)
    SELECT alert, hook, CASE WHEN waits THEN 'waiting' ELSE 'given_up' END, CASE WHEN waits THEN NULL ELSE 'queue_full' END, 0,
      ${at}, ${untilOf(at)}
    FROM (
      SELECT alert, w.id AS hook, row_number() OVER (PARTITION BY w.id ORDER BY alert) + (
        SELECT count(*) FROM alert_deliveries d WHERE d.webhook_id = w.id AND d.state = 'waiting') <= ${alertDeliveriesWaitingMax} AS waits
      FROM alert_webhooks w CROSS JOIN unnest(${alerts.slice()}::text[]) AS alert
      WHERE w.workspace_id = ${workspace} ${webhook === null ? tx`` : tx`AND w.id = ${webhook}`}
    ) AS new
    ON CONFLICT (alert_id, webhook_id) DO UPDATE SET state = excluded.state, failure = excluded.failure, attempts = 0,
      due_at = excluded.due_at, until = excluded.until
    RETURNING state`;
  return queued.filter(({ state }) => state === "waiting").length;
}

const untilOf = (at: Date): Date => new Date(at.getTime() + alertDeliveryMsMax);

/** A delivery under way. */
export interface DueDelivery {
  alert: string;
  webhook: string;
  workspace: WorkspaceId;
  format: WebhookFormatName;
  url: string;
  /** The alert as it is stored. */
  body: string;
  sealed: Uint8Array;
  /** The former secret, which signs as well; null: none, or it has expired. */
  former: Uint8Array | null;
  /** The sealed data key; null: it is missing. */
  dataKey: Uint8Array | null;
  attempts: number;
  /** When it would be tried next. */
  dueAt: Date;
  until: Date;
}

/** Begins an attempt at each webhook's longest-waiting delivery, and postpones its next attempt. */
export async function beginDeliveries({ now, limit }: { now: Date; limit: number }, sql: Queries): Promise<DueDelivery[]> {
  return sql<DueDelivery[]>`
    UPDATE alert_deliveries d SET ${begun(now, sql)}
    FROM (
      SELECT alert_id, webhook_id FROM (
        SELECT DISTINCT ON (webhook_id) alert_id, webhook_id, due_at FROM alert_deliveries
        WHERE state = 'waiting' AND due_at <= ${now} ORDER BY webhook_id, due_at, alert_id
      ) AS first ORDER BY due_at LIMIT ${limit}
    ) AS next, ${parts(sql)}
    WHERE d.alert_id = next.alert_id AND d.webhook_id = next.webhook_id AND d.state = 'waiting' AND d.due_at <= ${now} AND ${joined(sql)}
    RETURNING ${deliveryColumns(now, sql)}`;
}

/** Begins an attempt at one waiting delivery, whenever it is due. */
export async function beginDelivery(
  { alert, webhook, now }: { alert: string; webhook: string; now: Date },
  sql: Queries,
): Promise<DueDelivery | undefined> {
  const [row] = await sql<DueDelivery[]>`
    UPDATE alert_deliveries d SET ${begun(now, sql)} FROM ${parts(sql)}
    WHERE d.alert_id = ${alert} AND d.webhook_id = ${webhook} AND d.state = 'waiting' AND ${joined(sql)}
    RETURNING ${deliveryColumns(now, sql)}`;
  return row;
}

const parts = (sql: Queries) => sql`alerts a, alert_webhooks w LEFT JOIN data_keys k ON k.workspace_id = w.workspace_id`;
const joined = (sql: Queries) => sql`a.id = d.alert_id AND w.id = d.webhook_id`;

export interface Outcome {
  state: "waiting" | "delivered" | "given_up";
  /** The status of the answer; null: there was none. */
  status: number | null;
  failure: string | null;
}

/** A delivery that was replayed meanwhile stays as it is. */
export async function recordOutcome(
  { alert, webhook, attempts, state, status, failure }: Pick<DueDelivery, "alert" | "webhook" | "attempts"> & Outcome,
  sql: Queries,
): Promise<void> {
  await sql`
    UPDATE alert_deliveries SET state = ${state}, status = ${status}, failure = ${failure}
    WHERE alert_id = ${alert} AND webhook_id = ${webhook} AND attempts = ${attempts} AND state = 'waiting'`;
}

function begun(now: Date, sql: Queries) {
  return sql`attempts = attempts + 1, tried_at = ${now}, due_at = ${now}::timestamptz
    + make_interval(secs => least(${alertRetryMs / 1_000} * power(2, least(attempts, 30)), ${alertRetryMsMax / 1_000}))`;
}

function deliveryColumns(now: Date, sql: Queries) {
  return sql`d.alert_id AS alert, d.webhook_id AS webhook, w.workspace_id AS workspace, w.format, w.url, a.body, w.sealed,
    CASE WHEN w.former_until > ${now} THEN w.former END AS former, k.wrapped AS "dataKey", d.attempts, d.due_at AS "dueAt", d.until`;
}
