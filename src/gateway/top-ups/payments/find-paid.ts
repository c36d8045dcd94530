import type { TopUpParts } from "../parts.ts";
import { selectTopUpOfPayment, type TopUpRow } from "../store.ts";
import { creditPayment } from "./credit-payment.ts";

/**
 * Finds the top-up of a payment that is taken back. Events come in any order: a payment that no event told of yet is credited first,
 * since nothing would take the amount back afterwards.
 * @returns undefined: it is no payment of Weir
 * @throws StripeUnavailableError: it is not known
 */
export async function findPaidTopUp(paymentIntent: string, parts: TopUpParts): Promise<TopUpRow | undefined> {
  const known = await selectTopUpOfPayment(paymentIntent, parts.sql);
  if (known) return known;
  await creditPayment(await parts.stripe.readPayment(paymentIntent), parts);
  return selectTopUpOfPayment(paymentIntent, parts.sql);
}
