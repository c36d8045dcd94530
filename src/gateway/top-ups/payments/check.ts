/** Brings one top-up to the state that it has at Stripe: after its payer came back, and by the sweeper. */
import { changeTopUp } from "../change-top-up.ts";
import { confirmPayment } from "./confirm-payment.ts";
import { creditPayment } from "./credit-payment.ts";
import { offerAuthentication } from "./offer-authentication.ts";
import { openCheckout } from "./open-checkout.ts";
import type { TopUpParts } from "../parts.ts";
import { selectTopUp, updateTopUp, type TopUpRow } from "../store.ts";
import { CallRefusedError } from "../stripe/stripe-api.ts";

/**
 * @returns the top-up as it is afterwards
 * @throws CallRefusedError, StripeUnavailableError
 */
export async function checkTopUp(topUp: TopUpRow, parts: TopUpParts): Promise<TopUpRow> {
  await ask(topUp, parts);
  return (await selectTopUp(topUp.id, parts.sql)) ?? topUp;
}

async function ask(topUp: TopUpRow, parts: TopUpParts): Promise<void> {
  if (topUp.state !== "paid" && (!topUp.isPending || topUp.retryAt !== null)) return;
  if (topUp.session !== null) return askSession(topUp, topUp.session, parts);
  if (topUp.state === "created") return void (await reopened(topUp, parts));
  if (topUp.state === "action_required") return offerAuthentication(topUp, parts);
  if (topUp.state === "confirming") return confirmPayment(topUp, parts);
  if (topUp.paymentIntent !== null) await creditPayment(await parts.stripe.readPayment(topUp.paymentIntent), parts);
}

/** A refused call leaves a failed top-up, which is a state like others. */
async function reopened(topUp: TopUpRow, parts: TopUpParts): Promise<void> {
  try {
    await openCheckout(topUp, parts);
  } catch (error) {
    if (!(error instanceof CallRefusedError)) throw error;
  }
}

async function askSession(topUp: TopUpRow, id: string, parts: TopUpParts): Promise<void> {
  const session = await parts.stripe.readCheckout(id);
  if (session.status === "expired") return leaveCheckout(topUp, parts);
  if (session.paymentIntent !== null) await creditPayment(await parts.stripe.readPayment(session.paymentIntent), parts);
}

/** Ends a top-up whose page was left without a payment. */
export async function leaveCheckout({ id, workspace }: TopUpRow, parts: TopUpParts, event?: string): Promise<void> {
  await changeTopUp({ id, workspace, event }, parts, async ({ tx, topUp, now }) => {
    const isOpen = topUp.state === "open" || topUp.state === "created" || topUp.state === "action_required";
    if (isOpen) await updateTopUp({ ...topUp, state: "expired", endedAt: now }, tx);
    return { result: null };
  });
}
