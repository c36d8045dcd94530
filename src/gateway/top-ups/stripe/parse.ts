/** Reads Stripe's answers into Weir's own form. */
import type { Stripe } from "stripe";
import { ofCents } from "../amounts.ts";
import type { Card, CheckoutSession, PaymentIntent, StripeDispute, StripeRefund } from "./stripe-api.ts";

export function checkoutOf({ id, url, status, payment_intent: paymentIntent }: Stripe.Checkout.Session): CheckoutSession {
  return {
    id,
    url,
    status: status === "complete" ? "complete" : status === "expired" ? "expired" : "open",
    paymentIntent: idOf(paymentIntent),
  };
}

export function paymentOf(intent: Stripe.PaymentIntent): PaymentIntent {
  const { id, status, currency, metadata, payment_method: method, last_payment_error: error } = intent;
  const tax = intent.amount_details?.tax?.total_tax_amount ?? 0;
  const topUp = metadata["topup"];
  return {
    id,
    status,
    received: ofCents(intent.amount_received - tax),
    currency,
    topUp: topUp === undefined ? null : { id: topUp, try: Number(metadata["try"] ?? "1") },
    card: method === null || typeof method === "string" ? null : cardOf(method),
    savesCard: intent.setup_future_usage === "off_session",
    failure: error ? codeOf(error) : null,
  };
}

/** The bank's reason, or else what Stripe found: https://docs.stripe.com/declines/codes */
function codeOf({ code, decline_code: reason }: Stripe.PaymentIntent.LastPaymentError): string {
  const found = code === "card_declined" ? (reason ?? code) : (code ?? reason ?? "declined");
  return /^[a-z_]{1,64}$/.test(found) ? found : "declined";
}

function cardOf({ id, card }: Stripe.PaymentMethod): Card | null {
  if (!card) return null;
  const month = String(card.exp_month).padStart(2, "0");
  return {
    paymentMethod: id,
    brand: card.brand.slice(0, 32),
    lastFour: card.last4.slice(-4),
    expires: `${card.exp_year}-${month}`,
  };
}

export function refundOf({ id, status, amount, payment_intent: paymentIntent, metadata }: Stripe.Refund): StripeRefund {
  return {
    id,
    status: status ?? "pending",
    amount: ofCents(amount),
    paymentIntent: idOf(paymentIntent),
    refund: metadata?.["refund"] ?? null,
  };
}

/** Money has moved where a transaction of the account says so, whatever the state is called. */
export function disputeOf({ id, amount, payment_intent: paid, balance_transactions: moved }: Stripe.Dispute): StripeDispute {
  const isReinstated = moved.some((transaction) => transaction.amount > 0);
  const isWithdrawn = isReinstated || moved.some((transaction) => transaction.amount < 0);
  return { id, paymentIntent: idOf(paid) ?? "", amount: ofCents(amount), isWithdrawn, isReinstated };
}

/** Whether a listed object is about a payment of Weir. @param paid expanded */
export function isOfWeir(paid: string | Stripe.PaymentIntent | null): boolean {
  return paid !== null && typeof paid !== "string" && paid.metadata["topup"] !== undefined;
}

function idOf(linked: string | { id: string } | null): string | null {
  return typeof linked === "string" ? linked : (linked?.id ?? null);
}
