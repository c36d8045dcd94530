/**
 * The one way in which a payment becomes credit, for the webhook, the answer of a call and the sweeper. They may come in any order, at
 * once and many times: the workspace's lock puts them in a row, and the ledger takes each payment once.
 */
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { changedFields } from "../../../accounts/audit/changes.ts";
import { balanceNanoMax } from "../../../accounts/limits.ts";
import { formatUsd } from "../../../kernel/money.ts";
import { bookMovement } from "../../credit/credit.ts";
import { changeTopUp, refreshed, type Locked } from "../change-top-up.ts";
import { declinePayment } from "./decline-payment.ts";
import { offerAuthentication } from "./offer-authentication.ts";
import type { TopUpParts } from "../parts.ts";
import { paymentReference } from "../references.ts";
import { updateTopUpSettings, type TopUpSettingsRow } from "../settings-store.ts";
import { selectBalance, selectPending, selectTopUp, updateTopUp, type TopUpRow } from "../store.ts";
import type { Card, PaymentIntent } from "../stripe/stripe-api.ts";

/**
 * Brings a top-up to the state of its payment at Stripe.
 * @param event Stripe's id of the event that told of it; it is applied once, in the same transaction
 */
export async function creditPayment(intent: PaymentIntent, parts: TopUpParts, event?: string): Promise<void> {
  if (intent.topUp === null) return;
  const known = await selectTopUp(intent.topUp.id, parts.sql);
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

type Step = "credited" | "authenticate" | "nothing";

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

const nothing = { result: "nothing" as Step };

/** A payment of an earlier try says nothing about the present one. */
export function isCurrent({ topUp }: PaymentIntent, row: TopUpRow): boolean {
  return topUp !== null && topUp.try === row.try && row.isPending;
}

async function moved(intent: PaymentIntent, { tx, topUp, now }: Locked, state: "processing" | "canceled") {
  if (!isCurrent(intent, topUp)) return nothing;
  const ended = state === "canceled" ? { retryAt: null, endedAt: now } : {};
  await updateTopUp({ ...topUp, ...ended, state, paymentIntent: intent.id }, tx);
  return nothing;
}

async function credited(intent: PaymentIntent, locked: Locked, parts: TopUpParts) {
  const { tx, topUp, now } = locked;
  const { workspace } = topUp;
  const facts = { workspace, topUp: topUp.id, paymentIntent: intent.id };
  const { balance = 0n } = (await selectBalance(workspace, tx)) ?? {};
  if (intent.currency !== "usd" || intent.received <= 0n || balance + intent.received > balanceNanoMax) {
    raiseAlarm(
      parts.log,
      "top_up.not_credited",
      facts,
      "A payment cannot be credited: its currency or the balance's bound forbids it",
    );
    if (topUp.state !== "credited") await updateTopUp({ ...topUp, state: "paid", retryAt: null, paymentIntent: intent.id }, tx);
    return nothing;
  }
  const reference = paymentReference(intent.id);
  if (!(await bookMovement({ workspace, kind: "credit", amount: intent.received, reference }, tx))) return nothing;
  const received = topUp.received + intent.received;
  const done = { state: "credited" as const, received, paymentIntent: intent.id, failure: null, retryAt: null, endedAt: now };
  await updateTopUp({ ...topUp, ...done }, tx);
  await afterSuccess(intent, locked);
  const changes = changedFields({ before: {}, after: { usd: formatUsd(intent.received), top_up: topUp.id } });
  return { result: "credited" as Step, events: [{ event: "credit.added", workspace, target: reference, changes }] };
}

/** A person's payment saves its card, with which a waiting automatic one is tried at once. */
async function afterSuccess(intent: PaymentIntent, { tx, settings, topUp, now }: Locked): Promise<void> {
  const byPerson = topUp.session !== null;
  const card = byPerson && intent.savesCard ? intent.card : null;
  const paused = byPerson ? false : settings.paused;
  await updateTopUpSettings({ ...withCard(settings, card), failures: 0, paused }, tx);
  const waiting = card === null ? undefined : await selectPending({ workspace: topUp.workspace, kind: "automatic" }, tx);
  if (waiting?.retryAt) await updateTopUp({ ...waiting, retryAt: now }, tx);
}

function withCard(settings: TopUpSettingsRow, card: Card | null): TopUpSettingsRow {
  if (card === null) return settings;
  const { paymentMethod, brand: cardBrand, lastFour: cardLastFour, expires: cardExpires } = card;
  return { ...settings, paymentMethod, cardBrand, cardLastFour, cardExpires };
}
