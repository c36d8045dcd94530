/** Charges the saved card for a top-up whose row, try and key are in the database already. */
import { raiseAlarm } from "../../../kernel/alarm.ts";
import { changeTopUp } from "../change-top-up.ts";
import { creditPayment } from "./credit-payment.ts";
import { endTry } from "./decline-payment.ts";
import { idempotencyKeyMs } from "../limits.ts";
import type { TopUpParts } from "../parts.ts";
import type { TopUpRow } from "../store.ts";
import { CallRefusedError, KeyReusedError, type NewPayment, type PaymentIntent } from "../stripe/stripe-api.ts";

/**
 * Repeated until the outcome is known, with the same key, and so makes one payment.
 * @throws StripeUnavailableError: the outcome is not known
 */
export async function confirmPayment(topUp: TopUpRow, parts: TopUpParts): Promise<void> {
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

/** @returns null: the payment was never made */
async function payment(topUp: TopUpRow, { stripe, clock }: TopUpParts): Promise<PaymentIntent | null> {
  const { id, amount, customer, paymentMethod, receiptEmail, triedAt } = topUp;
  if (customer === null || paymentMethod === null) throw new CallRefusedError("no_card");
  const asked: NewPayment = { topUp: id, try: topUp.try, amount, customer, paymentMethod, receiptEmail };
  if (clock.now() - triedAt.getTime() > idempotencyKeyMs) return stripe.findPayment(asked, triedAt.getTime());
  try {
    return await stripe.createPayment(asked);
  } catch (error) {
    if (error instanceof CallRefusedError) throw error;
    // An error of Stripe's servers stays the answer to its key: what was made all the same is found here.
    const made = await stripe.findPayment(asked, triedAt.getTime());
    if (made === null && !(error instanceof KeyReusedError)) throw error;
    return made;
  }
}

async function giveUp(
  { id, workspace, try: tried }: TopUpRow,
  { failure, isFinal }: { failure: string; isFinal: boolean },
  parts: TopUpParts,
): Promise<void> {
  await changeTopUp({ id, workspace }, parts, async (locked) => {
    if (locked.topUp.state !== "confirming" || locked.topUp.try !== tried) return { result: null };
    return { ...(await endTry({ failure, paymentIntent: null, isFinal }, locked, parts)), result: null };
  });
}
