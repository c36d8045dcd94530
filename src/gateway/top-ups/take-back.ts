/**
 * Refunds and disputes. A refund first takes the credit back, as `refund`, and then pays the card; if Stripe fails, the amount returns as
 * `refund_reversed`. A refund takes at most what the workspace can still spend, after gateways have returned what they were lent. A refund
 * made in Stripe's dashboard is applied even if the credit is spent. A cardholder's dispute is an entry `dispute`, a won one
 * `dispute_reinstated`: Stripe takes the money at once, and so does the ledger. Each step of a dispute and each state of a refund is
 * applied once, whether an event or a list reports it first. `ledger verify` explains a balance below zero by these entries.
 */
import { signatureOf, type Actor, authorize, operatorOnly } from "../../accounts/audit/actor.ts";
import { changedFields, type AuditEvent } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { newRefundId, type WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { bookMovement } from "../credit/credit.ts";
import {
  changeTopUp,
  refreshed,
  type Locked,
  type RefundParts,
  refundReference,
  type TopUpParts,
  disputeReference,
} from "./change-top-up.ts";
import { idempotencyKeyMs } from "./limits.ts";
import { disputeMail } from "./mails.ts";
import { findPaidTopUp } from "./payments.ts";
import { parseBetween, ofCents, wholeCents, type RefundForm, type TopUpView } from "./schema.ts";
import * as store from "./store.ts";
import { CallRefusedError, KeyReusedError, type NewRefund, type StripeRefund } from "./stripe-api.ts";
import { findTopUp, noTopUp, showTopUp } from "./top-ups.ts";

/**
 * Refunds a part of a top-up, at most what is left of it and what the workspace can still spend.
 * @throws DomainError forbidden except for the operator; not_found; invalid_field; conflict; unavailable where the counters cannot say what
 * open requests hold
 */
export async function refundTopUp(
  { actor, workspace, id, form }: { actor: Actor; workspace: WorkspaceId; id: string; form: RefundForm },
  parts: RefundParts,
): Promise<TopUpView> {
  authorize(actor, { roles: operatorOnly, action: "refund a top-up" });
  await findTopUp({ id, workspace }, parts.sql);
  const held = await parts.held(workspace);
  if (held === null) throw new DomainError("unavailable", "Cannot refund: what open requests hold is not known; try again");
  const refund = await changeTopUp({ id, workspace, actor }, parts, (locked) => takeBack({ actor, form, held }, locked));
  if (refund === null) throw noTopUp(id);
  await refreshed(workspace, parts);
  await sendRefund(refund, parts).catch((error: unknown) =>
    parts.log.warn({ event: "top_up.refund_waits", refund: refund.id, reason: String(error) }, "A refund is sent again later"),
  );
  return showTopUp({ id, workspace }, parts.sql);
}

async function takeBack({ actor, form, held }: { actor: Actor; form: RefundForm; held: NanoUsd }, { tx, topUp, now }: Locked) {
  const { workspace, id } = topUp;
  const left = topUp.received - topUp.refunded - topUp.disputed;
  const { balance = 0n } = (await store.selectBalance(workspace, tx)) ?? {};
  const available = wholeCents(balance - held);
  if (left <= 0n) throw new DomainError("conflict", `Cannot refund ${id}: nothing is left of it`, { field: "usd" });
  const amount = form.usd === undefined ? left : parseBetween({ field: "usd", text: form.usd, min: ofCents(1), max: left });
  if (amount > available) {
    const message = `Cannot refund ${formatUsd(amount)} USD: the workspace can still spend ${formatUsd(available)} USD`;
    throw new DomainError("conflict", message, { field: "usd" });
  }
  const { actor: madeBy } = signatureOf(actor);
  const refund: store.RefundRow = {
    id: newRefundId(now.getTime()),
    topUp: id,
    amount,
    state: "pending",
    refund: null,
    madeBy,
    createdAt: now,
  };
  await bookMovement({ workspace, kind: "refund", amount: -amount, reference: refundReference(refund.id) }, tx);
  await store.insertRefund(refund, tx);
  await store.updateTopUp({ ...topUp, refunded: topUp.refunded + amount }, tx);
  const changes = changedFields({ before: {}, after: { usd: formatUsd(amount), refund: refund.id } });
  const event: AuditEvent = { event: "top_up.refunded", workspace, target: id, changes };
  return { result: refund, events: [event] };
}

// From a refund's row to the card

/**
 * Asks Stripe for the refund. It is repeated with the same key until the outcome is known, and so refunds once.
 * @throws StripeUnavailableError: the outcome is not known
 */
export async function sendRefund(refund: store.RefundRow, parts: TopUpParts): Promise<void> {
  const topUp = await store.selectTopUp(refund.topUp, parts.sql);
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

/** What Stripe's state of a refund means here. */
export function refundStateOf({ status }: Pick<StripeRefund, "status">): store.RefundRow["state"] {
  if (status === "failed" || status === "canceled") return "failed";
  return status === "succeeded" ? "succeeded" : "pending";
}

/** Applies a refund at Stripe, even one made in its dashboard. It takes back credit that may already be spent. */
export async function applyRefund(made: StripeRefund, parts: TopUpParts, event?: string): Promise<void> {
  const known = await store.selectRefund(made.refund ?? made.id, parts.sql);
  const topUp = known
    ? await store.selectTopUp(known.topUp, parts.sql)
    : made.paymentIntent === null
      ? undefined
      : await findPaidTopUp(made.paymentIntent, parts);
  if (topUp) await endRefund(topUp, { id: known?.id ?? null, made }, parts, event);
}

/** @returns null: it was never made */
async function callFor(
  { createdAt, refund }: store.RefundRow,
  asked: NewRefund,
  { stripe, clock }: TopUpParts,
): Promise<StripeRefund | null> {
  // Stripe answers a known key as it answered the first call, so the refund's current state is looked up.
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

const refundFailed = "A refund failed; its amount is part of the credit again";

/**
 * @param id Weir's; null: it was made elsewhere
 * @param made null: Stripe did not make it
 */
async function endRefund(
  { id: topUpId, workspace }: store.TopUpRow,
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
    await store.updateRefund({ id: row.id, state, refund: made?.id ?? row.refund }, tx);
    if (!hasFailed) return { result: id === null };
    await bookMovement({ workspace, kind: "refund_reversed", amount: row.amount, reference: refundReference(row.id) }, tx);
    // This transaction may have made the refund's entry.
    const topUp = (await store.selectTopUp(topUpId, tx)) ?? locked.topUp;
    await store.updateTopUp({ ...topUp, refunded: topUp.refunded - row.amount }, tx);
    raiseAlarm(parts.log, "top_up.refund_failed", { workspace, topUp: topUp.id, refund: row.id }, refundFailed);
    const changes = changedFields({ before: {}, after: { usd: formatUsd(row.amount), refund: row.id } });
    const event: AuditEvent = { event: "top_up.refund_reversed", workspace, target: topUp.id, changes };
    return { result: true, events: [event] };
  });
  if (moved === true) await refreshed(workspace, parts);
}

/** The refund's row. A refund made elsewhere gets its row now, with its entry. */
async function present(
  { id, made }: { id: string | null; made: StripeRefund | null },
  { tx, topUp, now }: Locked,
): Promise<store.RefundRow | undefined> {
  if (id !== null) return store.selectRefund(id, tx);
  if (made === null) return undefined;
  const before = await store.selectRefund(made.id, tx);
  if (before) return before;
  const row: store.RefundRow = {
    id: newRefundId(now.getTime()),
    topUp: topUp.id,
    amount: made.amount,
    state: "pending",
    refund: made.id,
    madeBy: "stripe",
    createdAt: now,
  };
  const { workspace } = topUp;
  await store.insertRefund(row, tx);
  await bookMovement({ workspace, kind: "refund", amount: -row.amount, reference: refundReference(row.id) }, tx);
  await store.updateTopUp({ ...topUp, refunded: topUp.refunded + row.amount }, tx);
  return row;
}

// Disputes

interface Dispute {
  /** Stripe's id. */
  id: string;
  paymentIntent: string;
  amount: NanoUsd;
}

/** `opened`: no money has moved yet. */
export type DisputeStep = "opened" | "withdrawn" | "reinstated";

/** Each step of a dispute is applied once, whichever event or list reports it. */
export function disputeStepKey({ id }: Pick<Dispute, "id">, step: DisputeStep): string {
  return `${id} ${step}`;
}

/**
 * Takes the disputed amount out of the credit, or returns it. A dispute is booked once each way, whatever order its steps are reported in:
 * an amount that is returned counts as taken earlier.
 */
export async function applyDispute({ dispute, step }: { dispute: Dispute; step: DisputeStep }, parts: TopUpParts): Promise<void> {
  const known = await findPaidTopUp(dispute.paymentIntent, parts);
  if (!known) return;
  const { id, workspace } = known;
  const event = disputeStepKey(dispute, step);
  const moved = await changeTopUp({ id, workspace, event }, parts, (locked) => booked({ dispute, step }, locked, parts));
  if (moved === null) return;
  await refreshed(workspace, parts);
  if (step === "reinstated") return;
  const facts = { workspace, topUp: id, dispute: dispute.id };
  raiseAlarm(parts.log, "top_up.disputed", facts, "The holder of a card disputes a payment; automatic top-up is off");
}

async function booked({ dispute, step }: { dispute: Dispute; step: DisputeStep }, locked: Locked, parts: TopUpParts) {
  const { tx, topUp, settings } = locked;
  const { workspace } = topUp;
  const reference = disputeReference(dispute.id);
  const { amount } = dispute;
  const takes = step !== "opened" && (await bookMovement({ workspace, kind: "dispute", amount: -amount, reference }, tx));
  const returns = step === "reinstated" && (await bookMovement({ workspace, kind: "dispute_reinstated", amount, reference }, tx));
  const disputed = topUp.disputed + (takes ? amount : 0n) - (returns ? amount : 0n);
  await store.updateTopUp({ ...topUp, disputed }, tx);
  if (step !== "reinstated") {
    await store.updateTopUpSettings({ ...settings, enabled: false }, tx);
    if (step === "opened") await parts.mailManagers({ workspace, ...disputeMail({ topUp, amount }, parts.publicUrl) }, tx);
  }
  const after = { usd: formatUsd(amount), dispute: dispute.id, disputed_usd: formatUsd(disputed) };
  const changes = changedFields({ before: { disputed_usd: formatUsd(topUp.disputed) }, after });
  const event: AuditEvent = { event: `top_up.dispute_${step}`, workspace, target: topUp.id, changes };
  return { result: true, events: [event] };
}
