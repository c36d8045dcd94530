/**
 * Limits of card top-up and of Stripe's webhook, each with its unit. Those of idempotency keys and events follow from how long Stripe keeps
 * and repeats them.
 */
// Card top-up
/** Cents of a top-up, at least; less is 400. */
export const topUpCentsMin = 500;
/** Cents of a top-up, at most; more is 400. */
export const topUpCentsMax = 250_000;
/** USD of the threshold of automatic top-up. */
export const topUpThresholdUsdMax = 10_000;
/** USD of the monthly cap of automatic top-up. */
export const topUpMonthlyCapUsdMax = 100_000;
/** Top-ups in a list. */
export const topUpsListedMax = 1_000;
/** Timeout of one call of Stripe. */
export const stripeCallMs = 10_000;
/** How often the package repeats a call, with the same idempotency key. */
export const stripeRetriesMax = 1;
/** Stripe accepts times from 30 minutes to 24 hours; the extra minute covers the call itself. */
export const checkoutOpenMs = 31 * 60_000;
/** How long a page stays open, linked from a mail, for a payment that its bank wants a person to authenticate. */
export const authenticationOpenMs = 23 * 3_600_000;
/** Stripe keeps idempotency keys for at least 24 hours. An older call is looked up, and never repeated. */
export const idempotencyKeyMs = 23 * 3_600_000;
/** How often credit is compared with the thresholds. */
export const topUpCheckMs = 10_000;
/** Workspaces in one read of them. */
export const topUpBatchMax = 100;
/** Payments that a process makes or looks up at once. */
export const topUpsAtOnceMax = 8;
/** How often unfinished payments are looked up at Stripe. */
export const topUpSweepMs = 600_000;
/** The age from which they are looked up. */
export const topUpSweepAgeMs = 300_000;
/** Payments in one round. */
export const topUpSweepMax = 1_000;
/** How far back disputes and refunds are looked up at Stripe. */
export const takenBackAgeMs = 30 * 86_400_000;
/** Disputes, and refunds, that one such look-up reads at most, the newest first. */
export const stripeListedMax = 10_000;
/** Declines in a row that switch automatic top-up off. */
export const topUpDeclinesMax = 3;
/** Pause before the next attempt, after the first decline. */
export const topUpRetryMs = 3_600_000;
/** The same after the second decline. */
export const topUpSecondRetryMs = 24 * 3_600_000;

// Stripe's webhook
/** A body of Stripe's webhook; beyond it 413. */
export const webhookBytesMax = 256 * 1024;
/** The time in which its body must arrive. */
export const webhookBodyMs = 10_000;
/** Bodies that arrive at once, before it is known whether Stripe signed them. */
export const webhookBodiesMax = 64;
/** Bodies that wait for a place. */
export const webhookBodiesWaitingMax = 64;
/** Signed events that are applied at once. */
export const webhooksAtOnceMax = 64;
/** Signed events that wait. */
export const webhooksWaitingMax = 200;
/** The longest wait; then 503, and Stripe sends them again. */
export const webhookWaitMs = 5_000;
/** How far the time in a signature may be from this clock. */
export const webhookSkewMsMax = 300_000;
/** Stripe repeats an event for up to three days, and the sweeper reports a dispute for `takenBackAgeMs`. */
export const webhookEventsKeptMs = 35 * 86_400_000;
