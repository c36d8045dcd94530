/** SQL of refunds. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { NanoUsd } from "../../kernel/money.ts";

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

const columns = (sql: Queries) => sql`
  id, top_up_id AS "topUp", amount_nano AS amount, state, refund, made_by AS "madeBy", created_at AS "createdAt"`;

export async function insertRefund(row: RefundRow, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO top_up_refunds (id, top_up_id, amount_nano, state, refund, made_by, created_at)
    VALUES (${row.id}, ${row.topUp}, ${row.amount}, ${row.state}, ${row.refund}, ${row.madeBy}, ${row.createdAt})`;
}

/** @param id Weir's id, or Stripe's */
export async function selectRefund(id: string, sql: Queries): Promise<RefundRow | undefined> {
  const [row] = await sql<RefundRow[]>`SELECT ${columns(sql)} FROM top_up_refunds WHERE id = ${id} OR refund = ${id}`;
  return row;
}

/** The caller holds the workspace's lock. */
export async function updateRefund(
  { id, state, refund }: Pick<RefundRow, "id" | "state" | "refund">,
  tx: Transaction,
): Promise<void> {
  await tx`UPDATE top_up_refunds SET state = ${state}, refund = ${refund} WHERE id = ${id}`;
}

/** Those whose outcome is not known, the oldest first. */
export async function selectPendingRefunds(
  { madeBefore, limit }: { madeBefore: Date; limit: number },
  sql: Queries,
): Promise<RefundRow[]> {
  return sql<RefundRow[]>`
    SELECT ${columns(sql)} FROM top_up_refunds
    WHERE state = 'pending' AND created_at <= ${madeBefore} ORDER BY created_at LIMIT ${limit}`;
}

/** In order of their time. */
export async function selectRefundsOf(topUps: readonly string[], sql: Queries): Promise<RefundRow[]> {
  return sql<RefundRow[]>`SELECT ${columns(sql)} FROM top_up_refunds WHERE top_up_id = ANY(${topUps}::text[]) ORDER BY id`;
}
