/** SQL of top-ups. */
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

/** The one under way of its kind. The caller holds the workspace's lock. */
export async function selectPending(
  { workspace, kind }: Pick<TopUpRow, "workspace" | "kind">,
  sql: Queries,
): Promise<TopUpRow | undefined> {
  const [row] = await sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups WHERE workspace_id = ${workspace} AND kind = ${kind} AND is_pending`;
  return row;
}

/** Everything that changes. The caller holds the workspace's lock, and read the row under it. */
export async function updateTopUp(row: TopUpRow, tx: Transaction): Promise<void> {
  await tx`
    UPDATE top_ups SET state = ${row.state}, received_nano = ${row.received}, refunded_nano = ${row.refunded},
      disputed_nano = ${row.disputed}, try = ${row.try}, tried_at = ${row.triedAt}, retry_at = ${row.retryAt},
      customer = ${row.customer}, payment_method = ${row.paymentMethod}, receipt_email = ${row.receiptEmail}, session = ${row.session},
      session_url = ${row.sessionUrl}, session_expires_at = ${row.sessionExpiresAt}, payment_intent = ${row.paymentIntent},
      failure = ${row.failure}, ended_at = ${row.endedAt}
    WHERE id = ${row.id}`;
}

/** The amounts of a workspace's automatic payments that were made or are under way, tried since a time. @param except leaves one out */
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

/** Newest first. @param before the last id of the page before; null: from the newest */
export async function selectTopUps(
  { workspace, before, limit }: { workspace: WorkspaceId; before: string | null; limit: number },
  sql: Queries,
): Promise<TopUpRow[]> {
  return sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups
    WHERE workspace_id = ${workspace} ${before === null ? sql`` : sql`AND id < ${before}`} ORDER BY id DESC LIMIT ${limit}`;
}

/** Those whose payment is to be tried again. */
export async function selectRetriesDue({ now, limit }: { now: Date; limit: number }, sql: Queries): Promise<TopUpRow[]> {
  return sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups WHERE is_pending AND retry_at <= ${now} ORDER BY retry_at LIMIT ${limit}`;
}

/** Those that Stripe has to be asked about, the oldest first. */
export async function selectUnfinished(
  { triedBefore, limit }: { triedBefore: Date; limit: number },
  sql: Queries,
): Promise<TopUpRow[]> {
  return sql<TopUpRow[]>`
    SELECT ${columns(sql)} FROM top_ups
    WHERE (is_pending OR state = 'paid') AND retry_at IS NULL AND tried_at <= ${triedBefore} ORDER BY tried_at LIMIT ${limit}`;
}

/** The present balance by the ledger, and whether the workspace is switched on; undefined: there is no such workspace. */
export async function selectBalance(
  workspace: WorkspaceId,
  sql: Queries,
): Promise<{ balance: NanoUsd; isServed: boolean } | undefined> {
  const [row] = await sql<{ balance: NanoUsd; isServed: boolean }[]>`
    SELECT balance_nano AS balance, enabled AS "isServed" FROM credit_accounts JOIN workspaces ON id = workspace_id
    WHERE workspace_id = ${workspace}`;
  return row;
}
