/** Stripe as processes call it: the account of the tests' stub, over a network that loses calls and answers. Amounts are nano-USD. */
import {
  CallRefusedError,
  KeyReusedError,
  StripeUnavailableError,
  type CheckoutSession,
  type NewRefund,
  type PaymentIntent,
  type StripeApi,
  type StripeDispute,
  type StripeRefund,
} from "../../../src/gateway/top-ups/stripe-api.ts";
import { stripeCallMs } from "../../../src/gateway/top-ups/limits.ts";
import {
  StubAccount,
  type StubDispute,
  type StubIntent,
  type StubRefund,
  type StubSession,
} from "../../support/stripe/stub-account.ts";
import { StubError } from "../../support/stripe/stub-error.ts";
import type { Chance } from "../chance.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Host } from "../world/host.ts";
import type { NetworkConditions } from "../world/network-conditions.ts";
import { Server } from "../world/server.ts";

export class StripeServer {
  readonly server: Server;
  readonly account = new StubAccount();
  readonly #chance: Chance;
  /** The first outcome of each idempotency key; repetitions get it. */
  readonly #kept = new Map<string, { asked: string; outcome: () => unknown }>();

  constructor(parts: { scheduler: Scheduler; conditions: NetworkConditions; chance: Chance }) {
    this.#chance = parts.chance;
    const unavailable = () => new StripeUnavailableError("the simulated Stripe did not answer");
    this.server = new Server({ ...parts, deadlineMs: stripeCallMs, unavailable });
  }

  /** As one process calls it. */
  of(host: Host): StripeApi {
    const call = <T>(work: () => T) => this.server.call(host, async () => refusing(work));
    const { account } = this;
    return {
      isLive: false,
      createCustomer: (workspace) => call(() => this.#once(`customer-${workspace}`, {}, () => account.id("cus"))),
      createCheckout: (asked) =>
        call(() => this.#once(`checkout-${asked.topUp}-${asked.try}`, asked, () => checkoutOf(this.#open(asked)))),
      readCheckout: (id) => call(() => checkoutOf(account.session(id))),
      expireCheckout: (id) => call(() => checkoutOf(account.expire(account.session(id)))),
      createPayment: (asked) =>
        call(() => this.#once(`payment-${asked.topUp}-${asked.try}`, asked, () => paymentOf(this.#charge(asked)))),
      readPayment: (id) => call(() => paymentOf(account.intent(id))),
      findPayment: ({ topUp, try: number }) =>
        call(() => {
          const made = [...account.intents.values()].find(({ metadata }) => isOf(metadata, topUp, number));
          return made ? paymentOf(made) : null;
        }),
      createRefund: (asked) => call(() => this.#once(`refund-${asked.refund}`, asked, () => refundOf(this.#refund(asked)))),
      findRefund: ({ refund }) =>
        call(() => {
          const made = [...account.refunds.values()].find(({ metadata }) => metadata["refund"] === refund);
          return made ? refundOf(made) : null;
        }),
      listRefunds: () => listed(call(() => [...account.refunds.values()].map(refundOf))),
      listDisputes: () => listed(call(() => [...account.disputes.values()].map(disputeOf))),
      removeCard: async () => {},
    };
  }

  /** Carries a call out once for each key. Sometimes its answer is an error of the server, which stays the answer to the key. */
  #once<T>(key: string, asked: object, work: () => T): T {
    const fingerprint = JSON.stringify(asked, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    const before = this.#kept.get(key);
    if (before && before.asked !== fingerprint) throw new KeyReusedError("The key has other values");
    // What is kept under a key has the form of what its call gives.
    if (before) return before.outcome() as T;
    const result = work();
    const isBroken = this.#chance.happens(0.1);
    const outcome = (): T => {
      if (isBroken) throw new StripeUnavailableError("the simulated Stripe answered with 500");
      return result;
    };
    this.#kept.set(key, { asked: fingerprint, outcome });
    return outcome();
  }

  #charge({ topUp, try: number, amount, customer, paymentMethod }: Parameters<StripeApi["createPayment"]>[0]): StubIntent {
    const metadata = { topup: topUp, try: String(number) };
    try {
      return this.account.charge({ amount: Number(amount), customer, payment_method: paymentMethod, metadata });
    } catch (error) {
      const declined = [...this.account.intents.values()].findLast((intent) => isOf(intent.metadata, topUp, number));
      if (error instanceof StubError && declined) return declined;
      throw error;
    }
  }

  #open({ topUp, try: number, amount, customer, expiresAt }: Parameters<StripeApi["createCheckout"]>[0]): StubSession {
    const id = this.account.id("cs");
    const session: StubSession = {
      id,
      object: "checkout.session",
      status: "open",
      url: `https://checkout.stripe.test/${id}`,
      amount: Number(amount),
      customer,
      client_reference_id: topUp,
      payment_intent: null,
      payment_status: "unpaid",
      expires_at: expiresAt / 1_000,
      intent: { metadata: { topup: topUp, try: String(number) }, setup_future_usage: "off_session" },
    };
    this.account.sessions.set(id, session);
    return session;
  }

  #refund({ refund, amount, paymentIntent }: NewRefund): StubRefund {
    return this.account.refund({ amount: Number(amount), payment_intent: paymentIntent, metadata: { refund } });
  }
}

function isOf(metadata: Record<string, string>, topUp: string, number: number): boolean {
  return metadata["topup"] === topUp && metadata["try"] === String(number);
}

/** @throws CallRefusedError for what the account refuses */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof StubError ? new CallRefusedError(error.message) : error;
  }
}

function checkoutOf({ id, url, status, payment_intent: paymentIntent }: StubSession): CheckoutSession {
  return { id, url, status, paymentIntent };
}

function paymentOf({ id, status, currency, metadata, ...intent }: StubIntent): PaymentIntent {
  const { payment_method: paymentMethod, last_payment_error: error } = intent;
  return {
    id,
    status,
    currency,
    received: BigInt(intent.amount_received),
    topUp: { id: metadata["topup"] ?? "", try: Number(metadata["try"]) },
    card: paymentMethod === null ? null : { paymentMethod, brand: "visa", lastFour: "4242", expires: "2030-04" },
    savesCard: intent.setup_future_usage === "off_session",
    failure: error && (error.decline_code ?? error.code),
  };
}

async function* listed<T>(answer: Promise<T[]>): AsyncGenerator<T> {
  yield* (await answer).toReversed();
}

function disputeOf({ id, amount, payment_intent: paymentIntent, balance_transactions: moved }: StubDispute): StripeDispute {
  const isReinstated = moved.some((transaction) => transaction.amount > 0);
  return { id, paymentIntent, amount: BigInt(amount), isWithdrawn: moved.length > 0, isReinstated };
}

function refundOf({ id, status, amount, payment_intent: paymentIntent, metadata }: StubRefund): StripeRefund {
  return { id, status, amount: BigInt(amount), paymentIntent, refund: metadata["refund"] ?? null };
}
