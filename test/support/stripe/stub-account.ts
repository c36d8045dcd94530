/** The objects of an account at Stripe, and what its test cards do: https://docs.stripe.com/testing */
import { invalid, StubError } from "./stub-error.ts";

export type CardBehaviour =
  "visa" | "chargeDeclined" | "chargeDeclinedInsufficientFunds" | "chargeDeclinedLostCard" | "authenticationRequired";

export interface StubIntent {
  id: string;
  object: "payment_intent";
  status: string;
  amount: number;
  amount_received: number;
  currency: string;
  customer: string;
  created: number;
  metadata: Record<string, string>;
  setup_future_usage: string | null;
  payment_method: string | null;
  last_payment_error: { code: string; decline_code?: string } | null;
}

export interface StubSession {
  id: string;
  object: "checkout.session";
  status: "open" | "complete" | "expired";
  url: string | null;
  amount: number;
  customer: string;
  client_reference_id: string;
  payment_intent: string | null;
  payment_status: "paid" | "unpaid";
  expires_at: number;
  intent: { metadata: Record<string, string>; setup_future_usage: string };
}

export interface StubRefund {
  id: string;
  object: "refund";
  created: number;
  status: string;
  amount: number;
  payment_intent: string;
  metadata: Record<string, string>;
}

export interface StubDispute {
  id: string;
  object: "dispute";
  created: number;
  status: string;
  amount: number;
  currency: string;
  payment_intent: string;
  /** What it took from the account and gave back. */
  balance_transactions: { id: string; amount: number }[];
}

export type StubObject = Record<string, unknown> & { id: string };

const declines: Record<Exclude<CardBehaviour, "visa">, { code: string; decline_code?: string }> = {
  chargeDeclined: { code: "card_declined", decline_code: "generic_decline" },
  chargeDeclinedInsufficientFunds: { code: "card_declined", decline_code: "insufficient_funds" },
  chargeDeclinedLostCard: { code: "card_declined", decline_code: "lost_card" },
  authenticationRequired: { code: "authentication_required", decline_code: "authentication_required" },
};

export class StubAccount {
  readonly intents = new Map<string, StubIntent>();
  readonly sessions = new Map<string, StubSession>();
  readonly refunds = new Map<string, StubRefund>();
  readonly disputes = new Map<string, StubDispute>();
  /** Milliseconds. */
  now: () => number = Date.now;
  /** By the id of the saved card. */
  readonly cards = new Map<string, CardBehaviour>();
  /** Refuses to open pages, as those that should have closed already. */
  refusesPages = false;
  /** Told of every event, in order. */
  onEvent: (type: string, object: StubObject) => void = () => {};
  #count = 0;

  id(prefix: string): string {
    return `${prefix}_${String(++this.#count).padStart(6, "0")}`;
  }

  /** What cards were charged, in cents. */
  charged(): number {
    return [...this.intents.values()].reduce((sum, { amount_received: received }) => sum + received, 0);
  }

  intent(id: string): StubIntent {
    const intent = this.intents.get(id);
    if (!intent) throw invalid("resource_missing", "intent");
    return intent;
  }

  session(id: string): StubSession {
    const session = this.sessions.get(id);
    if (!session) throw invalid("resource_missing", "session");
    return session;
  }

  /** Charges a saved card without its holder. @throws StubError for a declined one, with the payment */
  charge(asked: Pick<StubIntent, "amount" | "customer" | "metadata"> & { payment_method: string }): StubIntent {
    const behaviour = this.cards.get(asked.payment_method);
    if (behaviour === undefined) throw invalid("resource_missing", "payment_method");
    const intent = this.#add({ ...asked, setup_future_usage: null });
    if (behaviour === "visa") return this.#succeed(intent, asked.payment_method);
    const error = declines[behaviour];
    intent.status = "requires_payment_method";
    intent.payment_method = null;
    intent.last_payment_error = error;
    this.onEvent("payment_intent.payment_failed", { ...intent });
    throw new StubError(402, { type: "card_error", ...error, payment_intent: intent });
  }

  /** The page of a top-up that was opened last. */
  pageOf(topUp: string): StubSession {
    const session = [...this.sessions.values()].findLast(({ client_reference_id: of }) => of === topUp);
    if (!session) throw new Error(`No page was opened for ${topUp}`);
    return session;
  }

  /** A person pays on the page, and their card is saved. @returns the id of the saved card */
  pay(session: StubSession, card: CardBehaviour = "visa"): string {
    if (session.status !== "open") throw new Error(`The page is ${session.status}`);
    const saved = this.id("pm");
    this.cards.set(saved, card);
    const intent = this.#add({ amount: session.amount, customer: session.customer, ...session.intent });
    this.#succeed(intent, saved);
    Object.assign(session, { status: "complete", url: null, payment_status: "paid", payment_intent: intent.id });
    this.onEvent("checkout.session.completed", { ...session });
    return saved;
  }

  expire(session: StubSession): StubSession {
    if (session.status !== "open") throw invalid("resource_already_closed", "session");
    Object.assign(session, { status: "expired", url: null });
    this.onEvent("checkout.session.expired", { ...session });
    return session;
  }

  refund(asked: Pick<StubRefund, "amount" | "payment_intent" | "metadata">): StubRefund {
    const paid = this.intent(asked.payment_intent);
    const before = [...this.refunds.values()].filter(({ payment_intent: of }) => of === paid.id);
    const left = paid.amount_received - before.reduce((sum, { amount }) => sum + amount, 0);
    if (asked.amount > left) throw invalid("charge_already_refunded", "amount");
    const refund: StubRefund = { ...asked, id: this.id("re"), object: "refund", created: this.#seconds(), status: "succeeded" };
    this.refunds.set(refund.id, refund);
    this.onEvent("refund.created", { ...refund });
    return refund;
  }

  /** The holder of a card disputes a payment, and Stripe takes the amount. */
  dispute(asked: Pick<StubDispute, "amount" | "payment_intent">): StubDispute {
    const taken = [{ id: this.id("txn"), amount: -asked.amount }];
    const made = { id: this.id("dp"), object: "dispute", created: this.#seconds(), status: "needs_response" } as const;
    const dispute: StubDispute = { ...asked, ...made, currency: "usd", balance_transactions: taken };
    this.disputes.set(dispute.id, dispute);
    this.onEvent("charge.dispute.created", { ...dispute });
    this.onEvent("charge.dispute.funds_withdrawn", { ...dispute });
    return dispute;
  }

  /** The bank decides for the service, and Stripe gives the amount back. */
  win(dispute: StubDispute): void {
    dispute.status = "won";
    dispute.balance_transactions.push({ id: this.id("txn"), amount: dispute.amount });
    this.onEvent("charge.dispute.funds_reinstated", { ...dispute });
  }

  /** The card of a payment, as `expand[]=payment_method` shows it. */
  shown(intent: StubIntent): Record<string, unknown> {
    const { payment_method: id } = intent;
    if (id === null) return { ...intent };
    const card = { brand: "visa", last4: "4242", exp_month: 4, exp_year: 2030 };
    return { ...intent, payment_method: { id, object: "payment_method", type: "card", card } };
  }

  #seconds(): number {
    return Math.floor(this.now() / 1000);
  }

  #add(asked: Pick<StubIntent, "amount" | "customer" | "metadata"> & { setup_future_usage: string | null }): StubIntent {
    const intent: StubIntent = {
      ...asked,
      id: this.id("pi"),
      object: "payment_intent",
      status: "requires_confirmation",
      amount_received: 0,
      currency: "usd",
      created: this.#seconds(),
      payment_method: null,
      last_payment_error: null,
    };
    this.intents.set(intent.id, intent);
    return intent;
  }

  #succeed(intent: StubIntent, card: string): StubIntent {
    Object.assign(intent, { status: "succeeded", amount_received: intent.amount, payment_method: card });
    this.onEvent("payment_intent.succeeded", { ...intent });
    return intent;
  }
}
