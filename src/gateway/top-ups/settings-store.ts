/** SQL of a workspace's saved card and automatic top-up. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

export interface TopUpSettingsRow {
  workspace: WorkspaceId;
  /** Stripe's id; null: the workspace has never begun a top-up. */
  customer: string | null;
  /** Stripe's id of the saved card; null: there is none. */
  paymentMethod: string | null;
  cardBrand: string | null;
  cardLastFour: string | null;
  /** As YYYY-MM. */
  cardExpires: string | null;
  enabled: boolean;
  threshold: NanoUsd | null;
  amount: NanoUsd | null;
  monthlyCap: NanoUsd | null;
  receiptEmail: string | null;
  /** Declines in a row. */
  failures: number;
  /** Nothing is charged until a person has authenticated a payment. */
  paused: boolean;
}

const columns = (sql: Queries) => sql`
  workspace_id AS workspace, customer, payment_method AS "paymentMethod", card_brand AS "cardBrand", card_last_four AS "cardLastFour",
  card_expires AS "cardExpires", enabled, threshold_nano AS threshold, amount_nano AS amount, monthly_cap_nano AS "monthlyCap",
  receipt_email AS "receiptEmail", failures, paused`;

/** Before a workspace's first top-up. */
export function noTopUpSettings(workspace: WorkspaceId): TopUpSettingsRow {
  const noCard = { customer: null, paymentMethod: null, cardBrand: null, cardLastFour: null, cardExpires: null };
  const off = { enabled: false, threshold: null, amount: null, monthlyCap: null, receiptEmail: null, failures: 0, paused: false };
  return { workspace, ...noCard, ...off };
}

export async function selectTopUpSettings(workspace: WorkspaceId, sql: Queries): Promise<TopUpSettingsRow> {
  const [row] = await sql<TopUpSettingsRow[]>`SELECT ${columns(sql)} FROM top_up_settings WHERE workspace_id = ${workspace}`;
  return row ?? noTopUpSettings(workspace);
}

/** Everything about a workspace's top-ups takes this lock first, and so happens one after the other. */
export async function lockTopUpSettings(workspace: WorkspaceId, tx: Transaction): Promise<TopUpSettingsRow> {
  await tx`INSERT INTO top_up_settings (workspace_id) VALUES (${workspace}) ON CONFLICT (workspace_id) DO NOTHING`;
  const [row] = await tx<TopUpSettingsRow[]>`
    SELECT ${columns(tx)} FROM top_up_settings WHERE workspace_id = ${workspace} FOR UPDATE`;
  return row ?? noTopUpSettings(workspace);
}

export async function updateTopUpSettings(row: TopUpSettingsRow, tx: Transaction): Promise<void> {
  await tx`
    UPDATE top_up_settings SET customer = ${row.customer}, payment_method = ${row.paymentMethod}, card_brand = ${row.cardBrand},
      card_last_four = ${row.cardLastFour}, card_expires = ${row.cardExpires}, enabled = ${row.enabled},
      threshold_nano = ${row.threshold}, amount_nano = ${row.amount}, monthly_cap_nano = ${row.monthlyCap},
      receipt_email = ${row.receiptEmail}, failures = ${row.failures}, paused = ${row.paused}
    WHERE workspace_id = ${row.workspace}`;
}

/** Workspaces whose credit is to be watched, in order of their ids. */
export async function selectWatched(
  { after, limit }: { after: WorkspaceId; limit: number },
  sql: Queries,
): Promise<WorkspaceId[]> {
  const rows = await sql<{ workspace: WorkspaceId }[]>`
    SELECT workspace_id AS workspace FROM top_up_settings
    WHERE enabled AND NOT paused AND workspace_id > ${after} ORDER BY workspace_id LIMIT ${limit}`;
  return rows.map(({ workspace }) => workspace);
}

/** The workspaces that charge this card. */
export async function selectWorkspacesOfCard(paymentMethod: string, sql: Queries): Promise<WorkspaceId[]> {
  const rows = await sql<{ workspace: WorkspaceId }[]>`
    SELECT workspace_id AS workspace FROM top_up_settings WHERE payment_method = ${paymentMethod}`;
  return rows.map(({ workspace }) => workspace);
}
