/** From a refund's row to the card, and what Stripe says about it later. */
import { changedFields } from "../../../accounts/audit/changes.ts";
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { newRefundId } from "../../../kernel/ids.ts";
import { formatUsd } from "../../../kernel/money.ts";
import { bookMovement } from "../../credit/credit.ts";
import { changeTopUp, refreshed, type Locked } from "../change-top-up.ts";
import { idempotencyKeyMs } from "../limits.ts";
import type { TopUpParts } from "../parts.ts";
import { findPaidTopUp } from "../payments/find-paid.ts";
import { refundReference } from "../references.ts";
import { insertRefund, selectRefund, updateRefund, type RefundRow } from "../refunds-store.ts";
import { selectTopUp, updateTopUp, type TopUpRow } from "../store.ts";
import { CallRefusedError, KeyReusedError, type NewRefund, type StripeRefund } from "../stripe/stripe-api.ts";

/**
 * Repeated until the outcome is known, with the same key, and so refunds once.
 * @throws StripeUnavailableError: the outcome is not known
 */
export async function sendRefund(refund: RefundRow, parts: TopUpParts): Promise<void> {
  const topUp = await selectTopUp(refund.topUp, parts.sql);
  if (!topUp?.paymentIntent) return;
  const asked: NewRefund = { refund: refund.id, amount: refund.amount, paymentIntent: topUp.paymentIntent };
  try {
    const made = await callFor(refund, asked, parts);
    if (made === null) await endRefund(topUp, { id: refund.id, made: null }, parts);
    else await applyRefund(made, parts);
  } catch (error) {
    if (!(error instanceof CallRefusedError)) throw error;
    await endRefund(topUp, { id: refund.id, made: null }, parts);
  }
}

/** @returns null: it was never made */
async function callFor(
  { createdAt, refund }: RefundRow,
  asked: NewRefund,
  { stripe, clock }: TopUpParts,
): Promise<StripeRefund | null> {
  // The answer to a known key is that of its first call: what became of the refund since is looked up.
  if (refund !== null || clock.now() - createdAt.getTime() > idempotencyKeyMs) return stripe.findRefund(asked);
  try {
    return await stripe.createRefund(asked);
  } catch (error) {
    if (error instanceof CallRefusedError) throw error;
    const made = await stripe.findRefund(asked);
    if (made === null && !(error instanceof KeyReusedError)) throw error;
    return made;
  }
}

/** What Stripe's word for a refund's state means here. */
export function refundStateOf({ status }: Pick<StripeRefund, "status">): RefundRow["state"] {
  if (status === "failed" || status === "canceled") return "failed";
  return status === "succeeded" ? "succeeded" : "pending";
}

/** Follows a refund of Stripe, also one that was made in its dashboard, which takes credit back that may be spent already. */
export async function applyRefund(made: StripeRefund, parts: TopUpParts, event?: string): Promise<void> {
  const known = await selectRefund(made.refund ?? made.id, parts.sql);
  const topUp = known
    ? await selectTopUp(known.topUp, parts.sql)
    : made.paymentIntent === null
      ? undefined
      : await findPaidTopUp(made.paymentIntent, parts);
  if (topUp) await endRefund(topUp, { id: known?.id ?? null, made }, parts, event);
}

/**
 * @param id Weir's; null: it was made elsewhere
 * @param made null: Stripe did not make it
 */
async function endRefund(
  { id: topUpId, workspace }: TopUpRow,
  { id, made }: { id: string | null; made: StripeRefund | null },
  parts: TopUpParts,
  event?: string,
): Promise<void> {
  const moved = await changeTopUp({ id: topUpId, workspace, event }, parts, async (locked) => {
    const row = await present({ id, made }, locked);
    const told = made === null ? "failed" : refundStateOf(made);
    const hasFailed = told === "failed";
    if (row === undefined || row.state === "failed") return { result: id === null };
    const { tx } = locked;
    const state = told === "pending" ? row.state : told;
    await updateRefund({ id: row.id, state, refund: made?.id ?? row.refund }, tx);
    if (!hasFailed) return { result: id === null };
    await bookMovement({ workspace, kind: "refund_reversed", amount: row.amount, reference: refundReference(row.id) }, tx);
    // The refund's entry may be of this transaction.
    const topUp = (await selectTopUp(topUpId, tx)) ?? locked.topUp;
    await updateTopUp({ ...topUp, refunded: topUp.refunded - row.amount }, tx);
    raiseAlarm(parts.log, "top_up.refund_failed", { workspace, topUp: topUp.id, refund: row.id }, refundFailed);
    const changes = changedFields({ before: {}, after: { usd: formatUsd(row.amount), refund: row.id } });
    return { result: true, events: [{ event: "top_up.refund_reversed", workspace, target: topUp.id, changes }] };
  });
  if (moved === true) await refreshed(workspace, parts);
}

const refundFailed = "A refund failed; its amount is part of the credit again";

/** The refund's row, which one that was made elsewhere gets now, with its entry. */
async function present(
  { id, made }: { id: string | null; made: StripeRefund | null },
  { tx, topUp, now }: Locked,
): Promise<RefundRow | undefined> {
  if (id !== null) return selectRefund(id, tx);
  if (made === null) return undefined;
  const before = await selectRefund(made.id, tx);
  if (before) return before;
  const row: RefundRow = {
    id: newRefundId(now.getTime()),
    topUp: topUp.id,
    amount: made.amount,
    state: "pending",
    refund: made.id,
    madeBy: "stripe",
    createdAt: now,
  };
  const { workspace } = topUp;
  await insertRefund(row, tx);
  await bookMovement({ workspace, kind: "refund", amount: -row.amount, reference: refundReference(row.id) }, tx);
  await updateTopUp({ ...topUp, refunded: topUp.refunded + row.amount }, tx);
  return row;
}
