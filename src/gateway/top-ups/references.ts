/** What the ledger calls a movement of a payment. Each reference is booked once as each kind. */

/** @param paymentIntent Stripe's id */
export function paymentReference(paymentIntent: string): string {
  return `stripe:${paymentIntent}`;
}

/** The same when it is taken back and when it returns. @param id Weir's id of the refund */
export function refundReference(id: string): string {
  return `refund:${id}`;
}

/** The same when it is taken back and when it returns. @param dispute Stripe's id */
export function disputeReference(dispute: string): string {
  return `stripe:${dispute}`;
}
