/**
 * Calls Stripe through its package, in the API version that is pinned here. Stripe's texts stay here: an error carries only its code.
 * Payments of the account that are not Weir's are left out.
 */
import { Stripe } from "stripe";
import type { StripeConfig } from "../../process/environment/services.ts";
import { stripeCallMs, stripeRetriesMax } from "./limits.ts";
import { centsOf, ofCents } from "./schema.ts";
import {
  CallRefusedError,
  KeyReusedError,
  StripeUnavailableError,
  type NewPayment,
  type PaymentIntent,
  type StripeApi,
  type Card,
  type CheckoutSession,
  type StripeDispute,
  type StripeRefund,
} from "./stripe-api.ts";

/** The package's types are for this version only. */
const stripeVersion = "2026-10-28.endive";

export function stripeClient({ secretKey, apiUrl, isLive }: StripeConfig): StripeApi {
  const stripe = new Stripe(secretKey.reveal(), {
    apiVersion: stripeVersion,
    httpClient: Stripe.createFetchHttpClient(),
    timeout: stripeCallMs,
    maxNetworkRetries: stripeRetriesMax,
    telemetry: false,
    ...(apiUrl && { protocol: "http" as const, host: apiUrl.host, port: apiUrl.port }),
  });
  return {
    isLive,
    ...checkouts(stripe),
    ...payments(stripe),
    ...refunds(stripe),
    ...takenBack(stripe),
    async createCustomer(workspace) {
      const created = stripe.customers.create({ metadata: { workspace } }, { idempotencyKey: `customer-${workspace}` });
      return (await answer(created)).id;
    },
    async removeCard(paymentMethod) {
      await answer(stripe.paymentMethods.detach(paymentMethod));
    },
  };
}

function checkouts({ checkout: { sessions } }: Stripe): Pick<StripeApi, "createCheckout" | "readCheckout" | "expireCheckout"> {
  return {
    async createCheckout({ topUp, try: number, amount, customer, expiresAt, returnUrl }) {
      const price = { currency: "usd", unit_amount: centsOf(amount), product_data: { name: "Credit" } };
      const created = sessions.create(
        {
          mode: "payment",
          allowed_payment_method_types: ["card"],
          customer,
          client_reference_id: topUp,
          line_items: [{ quantity: 1, price_data: price }],
          payment_intent_data: { setup_future_usage: "off_session", metadata: metadataOf({ topUp, try: number }) },
          invoice_creation: { enabled: true },
          success_url: returnUrl,
          cancel_url: returnUrl,
          expires_at: Math.floor(expiresAt / 1000),
        },
        { idempotencyKey: number === 1 ? `topup-${topUp}` : `topup-${topUp}-checkout-${number}` },
      );
      return checkoutOf(await answer(created));
    },
    readCheckout: async (id) => checkoutOf(await answer(sessions.retrieve(id))),
    expireCheckout: async (id) => checkoutOf(await answer(sessions.expire(id))),
  };
}

/** The payments of a top-up are found by it. */
function metadataOf({ topUp, try: number }: Pick<NewPayment, "topUp" | "try">): Record<string, string> {
  return { topup: topUp, try: String(number) };
}

/** Stripe's texts stay here: an error carries only its code. @throws CallRefusedError, KeyReusedError, StripeUnavailableError */
async function answer<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const { type, statusCode, code } = error;
    if (type === "StripeIdempotencyError" && statusCode !== 409) throw new KeyReusedError("The key has other values");
    const isRefused = statusCode === 400 || statusCode === 402 || statusCode === 404;
    if (isRefused) throw new CallRefusedError(/^[a-z_]{1,64}$/.test(code ?? "") ? (code ?? "") : "invalid_request");
    throw new StripeUnavailableError(`Stripe gave no answer that counts: ${type} ${statusCode ?? "without a status"}`);
  }
}

/** Brand, last four digits and expiry come with each payment. */
const withCard = { expand: ["payment_method"] };

function payments({ paymentIntents }: Stripe): Pick<StripeApi, "createPayment" | "readPayment" | "findPayment"> {
  return {
    async createPayment(payment) {
      const { topUp, amount, customer, paymentMethod, receiptEmail } = payment;
      const created = paymentIntents.create(
        {
          amount: centsOf(amount),
          currency: "usd",
          customer,
          payment_method: paymentMethod,
          automatic_payment_methods: { enabled: true, allow_redirects: "never" },
          off_session: true,
          confirm: true,
          metadata: metadataOf(payment),
          ...(receiptEmail !== null && { receipt_email: receiptEmail }),
          ...withCard,
        },
        { idempotencyKey: `topup-${topUp}-${payment.try}` },
      );
      return paymentOf(await answer(created.catch(declinedPayment)));
    },
    readPayment: async (id) => paymentOf(await answer(paymentIntents.retrieve(id, withCard))),
    findPayment: (payment, since) => find(payment, since, paymentIntents),
  };
}

/** A declined payment exists at Stripe, and its state is the answer. */
function declinedPayment(error: unknown): Stripe.PaymentIntent {
  if (error instanceof Stripe.errors.StripeCardError && error.payment_intent) return error.payment_intent;
  throw error;
}

async function find(
  { topUp, try: number, customer }: NewPayment,
  since: number,
  paymentIntents: Stripe["paymentIntents"],
): Promise<PaymentIntent | null> {
  const made = { gte: Math.floor(since / 1000) - 60 };
  let page = await answer(paymentIntents.list({ customer, created: made, limit: 100 }));
  for (;;) {
    const found = page.data.find(({ metadata }) => metadata["topup"] === topUp && metadata["try"] === String(number));
    const last = page.data.at(-1);
    if (found) return paymentOf(await answer(paymentIntents.retrieve(found.id, withCard)));
    if (!page.has_more || !last) return null;
    page = await answer(paymentIntents.list({ customer, created: made, limit: 100, starting_after: last.id }));
  }
}

function refunds({ refunds: api }: Stripe): Pick<StripeApi, "createRefund" | "findRefund"> {
  return {
    async createRefund({ refund, amount, paymentIntent }) {
      const asked = { payment_intent: paymentIntent, amount: centsOf(amount), metadata: { refund } };
      return refundOf(await answer(api.create(asked, { idempotencyKey: `refund-${refund}` })));
    },
    async findRefund({ refund, paymentIntent }) {
      // One page holds all refunds of a payment: each takes at least a cent, and operators make them by hand.
      const { data } = await answer(api.list({ payment_intent: paymentIntent, limit: 100 }));
      const found = data.find(({ metadata }) => metadata?.["refund"] === refund);
      return found ? refundOf(found) : null;
    },
  };
}

/** Other payments of the account do not concern Weir. */
function takenBack({ refunds: api, disputes }: Stripe): Pick<StripeApi, "listRefunds" | "listDisputes"> {
  const listed = { limit: 100, expand: ["data.payment_intent"] };
  return {
    async *listRefunds(since) {
      const made = { gte: Math.floor(since / 1000) };
      for await (const refund of all((after) => api.list({ ...listed, created: made, ...after })))
        if (isOfWeir(refund.payment_intent)) yield refundOf(refund);
    },
    async *listDisputes(since) {
      const made = { gte: Math.floor(since / 1000) };
      for await (const dispute of all((after) => disputes.list({ ...listed, created: made, ...after })))
        if (isOfWeir(dispute.payment_intent)) yield disputeOf(dispute);
    },
  };
}

/** Every object of a list, page by page as it is taken. @throws StripeUnavailableError */
async function* all<T extends { id: string }>(
  list: (after: { starting_after?: string }) => Promise<Stripe.ApiList<T>>,
): AsyncGenerator<T> {
  for (let after: { starting_after?: string } = {}; ;) {
    const { data, has_more: hasMore } = await answer(list(after));
    yield* data;
    const last = data.at(-1);
    if (!hasMore || last === undefined) return;
    after = { starting_after: last.id };
  }
}

// Answers, in Weir's own form

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

export function refundOf({ id, status, amount, payment_intent: paymentIntent, metadata }: Stripe.Refund): StripeRefund {
  return {
    id,
    status: status ?? "pending",
    amount: ofCents(amount),
    paymentIntent: idOf(paymentIntent),
    refund: metadata?.["refund"] ?? null,
  };
}

/** Money has moved if a transaction of the account says so, whatever the state is called. */
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

/** The bank's reason, or else what Stripe found: https://docs.stripe.com/declines/codes */
function codeOf({ code, decline_code: reason }: Stripe.PaymentIntent.LastPaymentError): string {
  const found = code === "card_declined" ? (reason ?? code) : (code ?? reason ?? "declined");
  return /^[a-z_]{1,64}$/.test(found) ? found : "declined";
}
