/**
 * What top-up needs from Stripe, in Weir's own terms: the port that stripe-client.ts implements and tests replace. An answer that a card
 * was declined is a result; a refused call, a reused key and an unknown outcome are three errors, because each needs a different reaction.
 */
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

export interface Card {
  /** Stripe's id. */
  paymentMethod: string;
  brand: string;
  lastFour: string;
  /** The last month in which it is accepted, as YYYY-MM. */
  expires: string;
}

/** The payment of a top-up. */
export interface PaymentIntent {
  id: string;
  /** https://docs.stripe.com/payments/paymentintents/lifecycle */
  status: string;
  /** The received amount, without tax. */
  received: NanoUsd;
  currency: string;
  /** The top-up and the number of its attempt, from its metadata; null: it is not a payment of Weir. */
  topUp: { id: string; try: number } | null;
  card: Card | null;
  /** Whether the payer let Weir charge the card later. */
  savesCard: boolean;
  /** Stripe's code of the failure, such as `insufficient_funds`; null: none. */
  failure: string | null;
}

export interface CheckoutSession {
  id: string;
  /** The page for the payer; null: it is no longer open. */
  url: string | null;
  status: "open" | "complete" | "expired";
  paymentIntent: string | null;
}

export interface StripeRefund {
  id: string;
  status: string;
  amount: NanoUsd;
  paymentIntent: string | null;
  /** Weir's id of the refund, from its metadata; null: it was made elsewhere, such as in Stripe's dashboard. */
  refund: string | null;
}

/** A cardholder's dispute with the bank. */
export interface StripeDispute {
  id: string;
  paymentIntent: string;
  amount: NanoUsd;
  /** Whether Stripe has taken the amount, and whether it has given it back since. */
  isWithdrawn: boolean;
  isReinstated: boolean;
}

/** The parameters of a payment. A repeated call with the same values and key gives the same payment. */
export interface NewPayment {
  topUp: string;
  try: number;
  amount: NanoUsd;
  customer: string;
  paymentMethod: string;
  receiptEmail: string | null;
}

interface NewCheckout {
  topUp: string;
  try: number;
  amount: NanoUsd;
  customer: string;
  /** Milliseconds. */
  expiresAt: number;
  /** The address to which the payer returns. */
  returnUrl: string;
}

export interface NewRefund {
  refund: string;
  amount: NanoUsd;
  paymentIntent: string;
}

/**
 * Every call that creates something has an idempotency key made from Weir's id of what is created. All throw CallRefusedError when Stripe
 * refused the call and nothing happened, KeyReusedError, and StripeUnavailableError when the outcome is not known.
 */
export interface StripeApi {
  /** Whether its payments move money; the webhook's events have the same mode. */
  isLive: boolean;
  createCustomer(workspace: WorkspaceId): Promise<string>;
  createCheckout(checkout: NewCheckout): Promise<CheckoutSession>;
  readCheckout(id: string): Promise<CheckoutSession>;
  /** Closes an open page. */
  expireCheckout(id: string): Promise<CheckoutSession>;
  /** Charges the saved card. A declined payment is an answer, with its failure. */
  createPayment(payment: NewPayment): Promise<PaymentIntent>;
  readPayment(id: string): Promise<PaymentIntent>;
  /** Finds what `createPayment` made, when its key may be forgotten; null: nothing. @param since milliseconds */
  findPayment(payment: NewPayment, since: number): Promise<PaymentIntent | null>;
  createRefund(refund: NewRefund): Promise<StripeRefund>;
  /** Finds what `createRefund` made; null: nothing. */
  findRefund(refund: NewRefund): Promise<StripeRefund | null>;
  /** Refunds and disputes of Weir's payments that were made since, the newest first. @param since milliseconds */
  listRefunds(since: number): AsyncIterable<StripeRefund>;
  listDisputes(since: number): AsyncIterable<StripeDispute>;
  /** Removes a saved card from its customer. */
  removeCard(paymentMethod: string): Promise<void>;
}

/** Stripe refused the call, and nothing happened. */
export class CallRefusedError extends Error {
  override name = "CallRefusedError";
  /** Stripe's code, such as `resource_missing`. */
  readonly code: string;

  constructor(code: string) {
    super(`Stripe refused the call: ${code}`);
    this.code = code;
  }
}

/** The idempotency key belongs to a call with other values. What that call made has to be looked up. */
export class KeyReusedError extends Error {
  override name = "KeyReusedError";
}

/** The outcome is not known: the same call has to be repeated with the same key. */
export class StripeUnavailableError extends Error {
  override name = "StripeUnavailableError";
}
