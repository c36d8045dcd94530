/**
 * From an event to its change. Events come at least once and in any order, so an event of a payment says only that it changed: its
 * present state is read from Stripe.
 */
import { ofCents } from "../amounts.ts";
import { isApplied } from "../events-store.ts";
import type { TopUpParts } from "../parts.ts";
import { leaveCheckout } from "../payments/check.ts";
import { creditPayment } from "../payments/credit-payment.ts";
import { removeCard } from "../settings/remove-card.ts";
import { selectTopUp } from "../store.ts";
import { applyDispute, type DisputeStep } from "../take-back/dispute.ts";
import { applyRefund } from "../take-back/send-refund.ts";
import { objectOf, type EventObject, type StripeEvent } from "./event.ts";

/**
 * Unknown types change nothing. @throws when Stripe or the database did not answer: Stripe sends the event again
 */
export async function applyEvent(event: StripeEvent, parts: TopUpParts): Promise<void> {
  const apply = known[event.type];
  if (!apply || (await isApplied(event.id, parts.sql))) return;
  await apply({ id: event.id, object: objectOf(event) }, parts);
}

interface Told {
  /** Of the event. */
  id: string;
  object: EventObject;
}

type Apply = (event: Told, parts: TopUpParts) => Promise<void>;

const known: Record<string, Apply> = {
  "checkout.session.completed": session,
  "checkout.session.async_payment_succeeded": session,
  "checkout.session.async_payment_failed": left,
  "checkout.session.expired": left,
  "payment_intent.succeeded": payment,
  "payment_intent.payment_failed": payment,
  "payment_intent.requires_action": payment,
  "refund.created": refund,
  "refund.failed": refund,
  "charge.dispute.created": dispute("opened"),
  "charge.dispute.funds_withdrawn": dispute("withdrawn"),
  "charge.dispute.funds_reinstated": dispute("reinstated"),
  "payment_method.detached": ({ id, object }, parts) => removeCard(object.id, parts, id),
};

async function payment({ id, object }: Told, parts: TopUpParts): Promise<void> {
  // Other payments of the account are none of Weir's business, and need no call.
  if (object.metadata?.["topup"] === undefined) return;
  await creditPayment(await parts.stripe.readPayment(object.id), parts, id);
}

async function session({ id, object }: Told, parts: TopUpParts): Promise<void> {
  const { client_reference_id: topUp, payment_intent: paymentIntent } = object;
  if (!topUp || !paymentIntent || !(await selectTopUp(topUp, parts.sql))) return;
  await creditPayment(await parts.stripe.readPayment(paymentIntent), parts, id);
}

async function left({ id, object }: Told, parts: TopUpParts): Promise<void> {
  const topUp = await selectTopUp(object.client_reference_id ?? "", parts.sql);
  // Another page may have been opened for it since.
  if (topUp?.session === object.id) await leaveCheckout(topUp, parts, id);
}

async function refund({ id, object }: Told, parts: TopUpParts): Promise<void> {
  const made = {
    id: object.id,
    status: object.status ?? "",
    amount: ofCents(object.amount ?? 0),
    paymentIntent: object.payment_intent ?? null,
    refund: object.metadata?.["refund"] ?? null,
  };
  if (made.amount > 0n) await applyRefund(made, parts, id);
}

function dispute(step: DisputeStep): Apply {
  return async ({ object: { id, payment_intent: paymentIntent, amount } }, parts) => {
    if (!paymentIntent || !amount) return;
    await applyDispute({ dispute: { id, paymentIntent, amount: ofCents(amount) }, step }, parts);
  };
}
