/** What each operation of the stub does. */
import type { StubAccount, StubSession } from "./stub-account.ts";
import { invalid } from "./stub-error.ts";
import { metadataIn } from "./stub-form.ts";

interface Call {
  /** In the path; empty if it has none. */
  id: string;
  form: URLSearchParams;
  account: StubAccount;
}

interface Operation {
  method: "GET" | "POST";
  pattern: RegExp;
  /** @throws StubError */
  run(call: Call): unknown;
}

export const operations: readonly Operation[] = [
  { method: "POST", pattern: /^\/v1\/customers$/, run: ({ account }) => ({ id: account.id("cus"), object: "customer" }) },
  { method: "POST", pattern: /^\/v1\/checkout\/sessions$/, run: createSession },
  { method: "GET", pattern: /^\/v1\/checkout\/sessions\/(\w+)$/, run: ({ id, account }) => account.session(id) },
  {
    method: "POST",
    pattern: /^\/v1\/checkout\/sessions\/(\w+)\/expire$/,
    run: ({ id, account }) => account.expire(account.session(id)),
  },
  { method: "POST", pattern: /^\/v1\/payment_intents$/, run: createIntent },
  { method: "GET", pattern: /^\/v1\/payment_intents\/(\w+)$/, run: ({ id, account }) => account.shown(account.intent(id)) },
  {
    method: "GET",
    pattern: /^\/v1\/payment_intents$/,
    run: ({ form, account }) => listOf([...account.intents.values()].filter(({ customer }) => customer === form.get("customer"))),
  },
  { method: "POST", pattern: /^\/v1\/refunds$/, run: createRefund },
  {
    method: "GET",
    pattern: /^\/v1\/refunds$/,
    run: ({ form, account }) =>
      form.has("payment_intent")
        ? listOf([...account.refunds.values()].filter(({ payment_intent: of }) => of === form.get("payment_intent")))
        : pageOf([...account.refunds.values()], form, account),
  },
  {
    method: "GET",
    pattern: /^\/v1\/disputes$/,
    run: ({ form, account }) => pageOf([...account.disputes.values()], form, account),
  },
  {
    method: "POST",
    pattern: /^\/v1\/payment_methods\/(\w+)\/detach$/,
    run({ id, account }) {
      if (!account.cards.delete(id)) throw invalid("resource_missing", "payment_method");
      account.onEvent("payment_method.detached", { id });
      return { id, object: "payment_method" };
    },
  },
];

function listOf(data: readonly unknown[]) {
  return { object: "list", data, has_more: false };
}

/** Three a page, however many were asked for, so that tests see more than one; with payments, which the caller has to ask for. */
function pageOf<T extends { id: string; created: number; payment_intent: string }>(
  all: readonly T[],
  form: URLSearchParams,
  account: StubAccount,
) {
  const since = Number(form.get("created[gte]"));
  const newest = all.filter(({ created }) => created >= since).toReversed();
  const after = form.get("starting_after");
  const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  const data = newest.slice(from, from + 3);
  const isExpanded = form.get("expand[0]") === "data.payment_intent";
  const shown = data.map((one) => ({
    ...one,
    payment_intent: isExpanded ? account.shown(account.intent(one.payment_intent)) : one.payment_intent,
  }));
  return { object: "list", data: shown, has_more: from + 3 < newest.length };
}

function createSession({ form, account }: Call): StubSession {
  const expiresAt = Number(form.get("expires_at"));
  const id = account.id("cs");
  const price = "line_items[0][price_data]";
  if (form.get("mode") !== "payment" || form.get(`${price}[currency]`) !== "usd") throw invalid("parameter_invalid", "mode");
  if (account.refusesPages) throw invalid("parameter_invalid", "expires_at");
  const session: StubSession = {
    id,
    object: "checkout.session",
    status: "open",
    url: `https://checkout.stripe.test/${id}`,
    amount: Number(form.get(`${price}[unit_amount]`)) * Number(form.get("line_items[0][quantity]")),
    customer: form.get("customer") ?? "",
    client_reference_id: form.get("client_reference_id") ?? "",
    payment_intent: null,
    payment_status: "unpaid",
    expires_at: expiresAt,
    intent: {
      metadata: metadataIn(form, "payment_intent_data[metadata]"),
      setup_future_usage: form.get("payment_intent_data[setup_future_usage]") ?? "",
    },
  };
  account.sessions.set(id, session);
  return session;
}

function createIntent({ form, account }: Call) {
  const amount = Number(form.get("amount"));
  const isOffSession = form.get("off_session") === "true" && form.get("confirm") === "true";
  if (!isOffSession || form.get("currency") !== "usd" || amount < 50) throw invalid("parameter_invalid", "off_session");
  const asked = { amount, customer: form.get("customer") ?? "", payment_method: form.get("payment_method") ?? "" };
  return account.shown(account.charge({ ...asked, metadata: metadataIn(form) }));
}

function createRefund({ form, account }: Call) {
  const asked = { amount: Number(form.get("amount")), payment_intent: form.get("payment_intent") ?? "" };
  return account.refund({ ...asked, metadata: metadataIn(form) });
}
