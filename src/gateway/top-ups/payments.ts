/**
 * The one way in which a payment becomes credit, wherever its outcome arrives first: by the webhook, the answer of a call, the payer's
 * return, or the sweeper. These may come in any order, at once and many times: the workspace's lock serializes them, the payment's current
 * state is read from Stripe, and the ledger takes each payment once. Each call has an idempotency key whose row is written before the call.
 * After a crash or a lost answer the same call is repeated with the same key. After 23 hours it is looked up and never repeated, since
 * Stripe keeps keys for 24 hours. A payment that was taken but cannot be credited stays `paid` and raises an alarm, so that a person looks
 * at it.
 */
import { changedFields, type AuditEvent } from "../../accounts/audit/change.ts";
import { balanceNanoMax } from "../../accounts/limits.ts";
import { raiseAlarm } from "../../kernel/metrics.ts";
import { formatUsd } from "../../kernel/money.ts";
import { bookMovement } from "../credit/credit.ts";
import { changeTopUp, type TopUpParts, refreshed, type Locked, paymentReference } from "./change-top-up.ts";
import { offerAuthentication, openCheckout, endTry, declinePayment } from "./checkout.ts";
import { idempotencyKeyMs } from "./limits.ts";
import * as store from "./store.ts";
import { CallRefusedError, KeyReusedError, type NewPayment, type PaymentIntent, type Card } from "./stripe-api.ts";

/**
 * Brings one top-up to the state that it has at Stripe: after its payer came back, and by the sweeper.
 * @returns the top-up as it is afterwards
 * @throws CallRefusedError, StripeUnavailableError
 */
export async function checkTopUp(topUp: store.TopUpRow, parts: TopUpParts): Promise<store.TopUpRow> {
  await ask(topUp, parts);
  return (await store.selectTopUp(topUp.id, parts.sql)) ?? topUp;
}

/** Ends a top-up whose payer left the page without paying. */
export async function leaveCheckout({ id, workspace }: store.TopUpRow, parts: TopUpParts, event?: string): Promise<void> {
  await changeTopUp({ id, workspace, event }, parts, async ({ tx, topUp, now }) => {
    const isOpen = topUp.state === "open" || topUp.state === "created" || topUp.state === "action_required";
    if (isOpen) await store.updateTopUp({ ...topUp, state: "expired", endedAt: now }, tx);
    return { result: null };
  });
}

/**
 * Charges the saved card for a top-up whose row, attempt and key are in the database already. It is repeated with the same key until the
 * outcome is known, and so makes one payment.
 * @throws StripeUnavailableError: the outcome is not known
 */
export async function confirmPayment(topUp: store.TopUpRow, parts: TopUpParts): Promise<void> {
  try {
    const intent = await payment(topUp, parts);
    if (intent === null) await giveUp(topUp, { failure: "not_made", isFinal: false }, parts);
    else await creditPayment(intent, parts);
  } catch (error) {
    if (!(error instanceof CallRefusedError)) throw error;
    const facts = { workspace: topUp.workspace, topUp: topUp.id, code: error.code };
    raiseAlarm(parts.log, "top_up.refused", facts, "Stripe refused to charge a saved card; automatic top-up is off");
    await giveUp(topUp, { failure: error.code, isFinal: true }, parts);
  }
}

/**
 * Brings a top-up to the state of its payment at Stripe. No other code credits one.
 * @param event Stripe's id of the event that reported it; it is applied once, in the same transaction
 */
export async function creditPayment(intent: PaymentIntent, parts: TopUpParts, event?: string): Promise<void> {
  if (intent.topUp === null) return;
  const known = await store.selectTopUp(intent.topUp.id, parts.sql);
  if (!known) {
    const facts = { topUp: intent.topUp.id, paymentIntent: intent.id };
    raiseAlarm(parts.log, "top_up.unknown", facts, "Stripe has a payment of a top-up that the database does not have");
    return;
  }
  const { id, workspace } = known;
  const step = await changeTopUp({ id, workspace, event }, parts, (locked) => follow(intent, locked, parts));
  if (step === "credited") await refreshed(workspace, parts);
  if (step === "authenticate") await offerAuthentication(known, parts);
}

/**
 * Finds the top-up of a payment that is taken back. Events come in any order: a payment that no event has reported yet is credited first,
 * since nothing would take the amount back afterwards.
 * @returns undefined: it is not a payment of Weir
 * @throws StripeUnavailableError: it is not known
 */
export async function findPaidTopUp(paymentIntent: string, parts: TopUpParts): Promise<store.TopUpRow | undefined> {
  const known = await store.selectTopUpOfPayment(paymentIntent, parts.sql);
  if (known) return known;
  await creditPayment(await parts.stripe.readPayment(paymentIntent), parts);
  return store.selectTopUpOfPayment(paymentIntent, parts.sql);
}

async function ask(topUp: store.TopUpRow, parts: TopUpParts): Promise<void> {
  if (topUp.state !== "paid" && (!topUp.isPending || topUp.retryAt !== null)) return;
  if (topUp.session !== null) return askSession(topUp, topUp.session, parts);
  if (topUp.state === "created") return void (await reopened(topUp, parts));
  if (topUp.state === "action_required") return offerAuthentication(topUp, parts);
  if (topUp.state === "confirming") return confirmPayment(topUp, parts);
  if (topUp.paymentIntent !== null) await creditPayment(await parts.stripe.readPayment(topUp.paymentIntent), parts);
}

async function askSession(topUp: store.TopUpRow, id: string, parts: TopUpParts): Promise<void> {
  const session = await parts.stripe.readCheckout(id);
  if (session.status === "expired") return leaveCheckout(topUp, parts);
  if (session.paymentIntent !== null) await creditPayment(await parts.stripe.readPayment(session.paymentIntent), parts);
}

/** A refused call leaves a failed top-up, which is a normal state. */
async function reopened(topUp: store.TopUpRow, parts: TopUpParts): Promise<void> {
  try {
    await openCheckout(topUp, parts);
  } catch (error) {
    if (!(error instanceof CallRefusedError)) throw error;
  }
}

/** @returns null: the payment was never made */
async function payment(topUp: store.TopUpRow, { stripe, clock }: TopUpParts): Promise<PaymentIntent | null> {
  const { id, amount, customer, paymentMethod, receiptEmail, triedAt } = topUp;
  if (customer === null || paymentMethod === null) throw new CallRefusedError("no_card");
  const asked: NewPayment = { topUp: id, try: topUp.try, amount, customer, paymentMethod, receiptEmail };
  if (clock.now() - triedAt.getTime() > idempotencyKeyMs) return stripe.findPayment(asked, triedAt.getTime());
  try {
    return await stripe.createPayment(asked);
  } catch (error) {
    if (error instanceof CallRefusedError) throw error;
    // Stripe repeats a server error for the same key, so a payment that was made all the same is found here.
    const made = await stripe.findPayment(asked, triedAt.getTime());
    if (made === null && !(error instanceof KeyReusedError)) throw error;
    return made;
  }
}

async function giveUp(
  { id, workspace, try: tried }: store.TopUpRow,
  { failure, isFinal }: { failure: string; isFinal: boolean },
  parts: TopUpParts,
): Promise<void> {
  await changeTopUp({ id, workspace }, parts, async (locked) => {
    if (locked.topUp.state !== "confirming" || locked.topUp.try !== tried) return { result: null };
    return { ...(await endTry({ failure, paymentIntent: null, isFinal }, locked, parts)), result: null };
  });
}

type Step = "credited" | "authenticate" | "nothing";

const nothing = { result: "nothing" as Step };

async function follow(intent: PaymentIntent, locked: Locked, parts: TopUpParts) {
  switch (intent.status) {
    case "succeeded":
      return credited(intent, locked, parts);
    case "processing":
      return moved(intent, locked, "processing");
    case "requires_payment_method":
    case "requires_action":
      return declinePayment(intent, locked, parts);
    case "canceled":
      return moved(intent, locked, "canceled");
    default:
      return nothing;
  }
}

async function credited(intent: PaymentIntent, locked: Locked, parts: TopUpParts) {
  const { tx, topUp, now } = locked;
  const { workspace } = topUp;
  const facts = { workspace, topUp: topUp.id, paymentIntent: intent.id };
  const { balance = 0n } = (await store.selectBalance(workspace, tx)) ?? {};
  if (intent.currency !== "usd" || intent.received <= 0n || balance + intent.received > balanceNanoMax) {
    raiseAlarm(
      parts.log,
      "top_up.not_credited",
      facts,
      "A payment cannot be credited: its currency or the balance's bound forbids it",
    );
    if (topUp.state !== "credited")
      await store.updateTopUp({ ...topUp, state: "paid", retryAt: null, paymentIntent: intent.id }, tx);
    return nothing;
  }
  const reference = paymentReference(intent.id);
  if (!(await bookMovement({ workspace, kind: "credit", amount: intent.received, reference }, tx))) return nothing;
  const received = topUp.received + intent.received;
  const done = { state: "credited" as const, received, paymentIntent: intent.id, failure: null, retryAt: null, endedAt: now };
  await store.updateTopUp({ ...topUp, ...done }, tx);
  await afterSuccess(intent, locked);
  const changes = changedFields({ before: {}, after: { usd: formatUsd(intent.received), top_up: topUp.id } });
  const event: AuditEvent = { event: "credit.added", workspace, target: reference, changes };
  return { result: "credited" as Step, events: [event] };
}

/** A person's payment saves its card, with which a waiting automatic one is tried at once. */
async function afterSuccess(intent: PaymentIntent, { tx, settings, topUp, now }: Locked): Promise<void> {
  const byPerson = topUp.session !== null;
  const card = byPerson && intent.savesCard ? intent.card : null;
  const paused = byPerson ? false : settings.paused;
  await store.updateTopUpSettings({ ...withCard(settings, card), failures: 0, paused }, tx);
  const waiting = card === null ? undefined : await store.selectPending({ workspace: topUp.workspace, kind: "automatic" }, tx);
  if (waiting?.retryAt) await store.updateTopUp({ ...waiting, retryAt: now }, tx);
}

function withCard(settings: store.TopUpSettingsRow, card: Card | null): store.TopUpSettingsRow {
  if (card === null) return settings;
  const { paymentMethod, brand: cardBrand, lastFour: cardLastFour, expires: cardExpires } = card;
  return { ...settings, paymentMethod, cardBrand, cardLastFour, cardExpires };
}

async function moved(intent: PaymentIntent, { tx, topUp, now }: Locked, state: "processing" | "canceled") {
  if (!isCurrent(intent, topUp)) return nothing;
  const ended = state === "canceled" ? { retryAt: null, endedAt: now } : {};
  await store.updateTopUp({ ...topUp, ...ended, state, paymentIntent: intent.id }, tx);
  return nothing;
}

/** A payment of an earlier attempt says nothing about the current one. */
function isCurrent({ topUp }: PaymentIntent, row: store.TopUpRow): boolean {
  return topUp !== null && topUp.try === row.try && row.isPending;
}
