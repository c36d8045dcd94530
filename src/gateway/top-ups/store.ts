/**
 * All SQL of top-ups, of a workspace's saved card and automatic top-up, of refunds, and of the webhook's events. Everything about a
 * workspace's top-ups first locks its settings, and so runs serially.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { TopUpKind, TopUpState } from "./schema.ts";

export interface TopUpRow {
  id: string;
  workspace: WorkspaceId;
  kind: TopUpKind;
  state: TopUpState;
  amount: NanoUsd;
  received: NanoUsd;
  refunded: NanoUsd;
  disputed: NanoUsd;
  /** The number of the payment under way. */
  try: number;
  triedAt: Date;
  retryAt: Date | null;
  customer: string | null;
  paymentMethod: string | null;
  receiptEmail: string | null;
  session: string | null;
  sessionUrl: string | null;
  sessionExpiresAt: Date | null;
  paymentIntent: string | null;
  failure: string | null;
  madeBy: string;
  createdAt: Date;
  endedAt: Date | null;
  isPending: boolean;
}

const columns = (sql: Queries) => sql`
  id, workspace_id AS workspace, kind, state, amount_nano AS amount, received_nano AS received, refunded_nano AS refunded,
  disputed_nano AS disputed, try, tried_at AS "triedAt", retry_at AS "retryAt", customer, payment_method AS "paymentMethod",
  receipt_email AS "receiptEmail", session, session_url AS "sessionUrl", session_expires_at AS "sessionExpiresAt",
  payment_intent AS "paymentIntent", failure, made_by AS "madeBy", created_at AS "createdAt", ended_at AS "endedAt",
  is_pending AS "isPending"`;

type NewTopUpRow = Pick<
  TopUpRow,
  "id" | "workspace" | "kind" | "state" | "amount" | "customer" | "paymentMethod" | "receiptEmail" | "sessionExpiresAt" | "madeBy"
> & { at: Date };

export async function insertTopUp(row: NewTopUpRow, tx: Transaction): Promise<TopUpRow> {
  const [inserted] = await tx<TopUpRow[]>`
    INSERT INTO top_ups (id, workspace_id, kind, state, amount_nano, tried_at, customer, payment_method, receipt_email,
      session_expires_at, made_by, created_at)
    VALUES (${row.id}, ${row.workspace}, ${row.kind}, ${row.state}, ${row.amount}, ${row.at}, ${row.customer}, ${row.paymentMethod},
      ${row.receiptEmail}, ${row.sessionExpiresAt}, ${row.madeBy}, ${row.at})
    RETURNING ${columns(tx)}`;
  if (!inserted) throw new Error("The database returned no row of a new top-up");
  return inserted;
}

export async function selectTopUp(id: string, sql: Queries): Promise<TopUpRow | undefined> {
  const [row] = await sql<TopUpRow[]>`SELECT ${columns(sql)} FROM top_ups WHERE id = ${id}`;
  return row;
}

export async function selectTopUpOfPayment(paymentIntent: string, sql: Queries): Promise<TopUpRow | undefined> {
  const [row] = await sql<TopUpRow[]>`SELECT ${columns(sql)} FROM top_ups WHERE payment_intent = ${paymentIntent}`;
  return row;
}

/** The top-up of this kind that is under way. The caller holds the workspace's lock. */
export async function selectPending(
  { workspace, kind }: Pick<TopUpRow, "workspace" | "kind">,
  sql: Queries,
): Promise<TopUpRow | undefined> {
  const [row] = await sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups WHERE workspace_id = ${workspace} AND kind = ${kind} AND is_pending`;
  return row;
}

/** Updates every column that can change. The caller holds the workspace's lock and has read the row under it. */
export async function updateTopUp(row: TopUpRow, tx: Transaction): Promise<void> {
  await tx`
    UPDATE top_ups SET state = ${row.state}, received_nano = ${row.received}, refunded_nano = ${row.refunded},
      disputed_nano = ${row.disputed}, try = ${row.try}, tried_at = ${row.triedAt}, retry_at = ${row.retryAt},
      customer = ${row.customer}, payment_method = ${row.paymentMethod}, receipt_email = ${row.receiptEmail}, session = ${row.session},
      session_url = ${row.sessionUrl}, session_expires_at = ${row.sessionExpiresAt}, payment_intent = ${row.paymentIntent},
      failure = ${row.failure}, ended_at = ${row.endedAt}
    WHERE id = ${row.id}`;
}

/** The sum of a workspace's automatic payments that were tried since a time and are made or under way. @param except leaves one out */
export async function sumAutomatic(
  { workspace, since, except }: { workspace: WorkspaceId; since: Date; except: string | null },
  sql: Queries,
): Promise<NanoUsd> {
  const [row] = await sql<{ sum: NanoUsd }[]>`
    SELECT coalesce(sum(amount_nano), 0)::bigint AS sum FROM top_ups
    WHERE workspace_id = ${workspace} AND kind = 'automatic' AND (is_pending OR state IN ('credited', 'paid')) AND tried_at >= ${since}
      AND id IS DISTINCT FROM ${except}`;
  return row?.sum ?? 0n;
}

/** Newest first. @param before the last id of the previous page; null: from the newest */
export async function selectTopUps(
  { workspace, before, limit }: { workspace: WorkspaceId; before: string | null; limit: number },
  sql: Queries,
): Promise<TopUpRow[]> {
  return sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups
    WHERE workspace_id = ${workspace} ${before === null ? sql`` : sql`AND id < ${before}`} ORDER BY id DESC LIMIT ${limit}`;
}

/** Top-ups whose payment is to be tried again. */
export async function selectRetriesDue({ now, limit }: { now: Date; limit: number }, sql: Queries): Promise<TopUpRow[]> {
  return sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups WHERE is_pending AND retry_at <= ${now} ORDER BY retry_at LIMIT ${limit}`;
}

/** Top-ups that must be looked up at Stripe, the oldest first. */
export async function selectUnfinished(
  { triedBefore, limit }: { triedBefore: Date; limit: number },
  sql: Queries,
): Promise<TopUpRow[]> {
  return sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups
    WHERE (is_pending OR state = 'paid') AND retry_at IS NULL AND tried_at <= ${triedBefore} ORDER BY tried_at LIMIT ${limit}`;
}

/** The current balance by the ledger, and whether the workspace is switched on; undefined: there is no such workspace. */
export async function selectBalance(
  workspace: WorkspaceId,
  sql: Queries,
): Promise<{ balance: NanoUsd; isServed: boolean } | undefined> {
  const [row] = await sql<{ balance: NanoUsd; isServed: boolean }[]>`
    SELECT balance_nano AS balance, enabled AS "isServed" FROM credit_accounts JOIN workspaces ON id = workspace_id
    WHERE workspace_id = ${workspace}`;
  return row;
}

// The saved card and automatic top-up

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

const settingsColumns = (sql: Queries) => sql`
  workspace_id AS workspace, customer, payment_method AS "paymentMethod", card_brand AS "cardBrand", card_last_four AS "cardLastFour",
  card_expires AS "cardExpires", enabled, threshold_nano AS threshold, amount_nano AS amount, monthly_cap_nano AS "monthlyCap",
  receipt_email AS "receiptEmail", failures, paused`;

export async function selectTopUpSettings(workspace: WorkspaceId, sql: Queries): Promise<TopUpSettingsRow> {
  const [row] = await sql<
    TopUpSettingsRow[]
  >`SELECT ${settingsColumns(sql)} FROM top_up_settings WHERE workspace_id = ${workspace}`;
  return row ?? noTopUpSettings(workspace);
}

/** Everything about a workspace's top-ups takes this lock first, and so runs serially. */
export async function lockTopUpSettings(workspace: WorkspaceId, tx: Transaction): Promise<TopUpSettingsRow> {
  await tx`INSERT INTO top_up_settings (workspace_id) VALUES (${workspace}) ON CONFLICT (workspace_id) DO NOTHING`;
  const [row] = await tx<TopUpSettingsRow[]>`
    SELECT ${settingsColumns(tx)} FROM top_up_settings WHERE workspace_id = ${workspace} FOR UPDATE`;
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

/** Used before a workspace's first top-up. */
function noTopUpSettings(workspace: WorkspaceId): TopUpSettingsRow {
  const noCard = { customer: null, paymentMethod: null, cardBrand: null, cardLastFour: null, cardExpires: null };
  const off = { enabled: false, threshold: null, amount: null, monthlyCap: null, receiptEmail: null, failures: 0, paused: false };
  return { workspace, ...noCard, ...off };
}

// Refunds

export interface RefundRow {
  id: string;
  topUp: string;
  amount: NanoUsd;
  state: "pending" | "succeeded" | "failed";
  /** Stripe's id; null: its answer is not known yet. */
  refund: string | null;
  madeBy: string;
  createdAt: Date;
}

const refundColumns = (sql: Queries) => sql`
  id, top_up_id AS "topUp", amount_nano AS amount, state, refund, made_by AS "madeBy", created_at AS "createdAt"`;

export async function insertRefund(row: RefundRow, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO top_up_refunds (id, top_up_id, amount_nano, state, refund, made_by, created_at)
    VALUES (${row.id}, ${row.topUp}, ${row.amount}, ${row.state}, ${row.refund}, ${row.madeBy}, ${row.createdAt})`;
}

/** @param id Weir's id, or Stripe's */
export async function selectRefund(id: string, sql: Queries): Promise<RefundRow | undefined> {
  const [row] = await sql<RefundRow[]>`SELECT ${refundColumns(sql)} FROM top_up_refunds WHERE id = ${id} OR refund = ${id}`;
  return row;
}

/** The caller holds the workspace's lock. */
export async function updateRefund(
  { id, state, refund }: Pick<RefundRow, "id" | "state" | "refund">,
  tx: Transaction,
): Promise<void> {
  await tx`UPDATE top_up_refunds SET state = ${state}, refund = ${refund} WHERE id = ${id}`;
}

/** Refunds whose outcome is not known, the oldest first. */
export async function selectPendingRefunds(
  { madeBefore, limit }: { madeBefore: Date; limit: number },
  sql: Queries,
): Promise<RefundRow[]> {
  return sql<RefundRow[]>`
    SELECT ${refundColumns(sql)} FROM top_up_refunds
    WHERE state = 'pending' AND created_at <= ${madeBefore} ORDER BY created_at LIMIT ${limit}`;
}

/** In order of their time. */
export async function selectRefundsOf(topUps: readonly string[], sql: Queries): Promise<RefundRow[]> {
  return sql<RefundRow[]>`SELECT ${refundColumns(sql)} FROM top_up_refunds WHERE top_up_id = ANY(${topUps}::text[]) ORDER BY id`;
}

// Events of the webhook

/** @returns whether the event is new: then this transaction applies it */
export async function claimEvent({ id, at }: { id: string; at: Date }, tx: Transaction): Promise<boolean> {
  const inserted = await tx`INSERT INTO stripe_events (id, at) VALUES (${id}, ${at}) ON CONFLICT (id) DO NOTHING`;
  return inserted.count === 1;
}

export async function isApplied(id: string, sql: Queries): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM stripe_events WHERE id = ${id}`;
  return rows.length > 0;
}

export async function deleteEvents(before: Date, sql: Queries): Promise<void> {
  await sql`DELETE FROM stripe_events WHERE at < ${before}`;
}
