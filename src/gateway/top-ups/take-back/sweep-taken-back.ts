/**
 * What Stripe's events may have failed to tell: disputes of the last 30 days, refunds of its dashboard, and refunds that failed since.
 * Stripe itself gives up an event after three days, and whoever profits from a lost one may keep the endpoint busy for so long.
 */
import { isApplied } from "../events-store.ts";
import { stripeListedMax, takenBackAgeMs } from "../limits.ts";
import type { TopUpParts } from "../parts.ts";
import { selectRefund } from "../refunds-store.ts";
import type { StripeDispute, StripeRefund } from "../stripe/stripe-api.ts";
import { applyDispute, disputeStepKey, type DisputeStep } from "./dispute.ts";
import { applyRefund, refundStateOf } from "./send-refund.ts";

/** Changes nothing where the events came. What fails is logged, and looked at again in the next round. */
export async function sweepTakenBack(parts: TopUpParts, signal?: AbortSignal): Promise<void> {
  const { stripe, clock } = parts;
  const since = clock.now() - takenBackAgeMs;
  await each(stripe.listDisputes(since), (dispute) => takeDispute(dispute, parts), { what: "disputes", parts, signal });
  await each(stripe.listRefunds(since), (refund) => takeRefund(refund, parts), { what: "refunds", parts, signal });
}

/** The newest first, and no more than so many. */
async function each<T>(
  listed: AsyncIterable<T>,
  act: (one: T) => Promise<void>,
  { what, parts: { log }, signal }: { what: string; parts: TopUpParts; signal: AbortSignal | undefined },
): Promise<void> {
  const waits = (error: unknown): void =>
    log.warn({ event: "top_up.waits", what, reason: String(error) }, "What Stripe took back is not known yet; it is asked again");
  let count = 0;
  try {
    for await (const one of listed) {
      if (signal?.aborted) return;
      await act(one).catch(waits);
      if (++count < stripeListedMax) continue;
      log.warn({ event: "top_up.listed_in_part", what, count }, "Stripe has more of them than one sweep looks at");
      return;
    }
  } catch (error) {
    waits(error);
  }
}

async function takeDispute({ isWithdrawn, isReinstated, ...dispute }: StripeDispute, parts: TopUpParts): Promise<void> {
  const steps: DisputeStep[] = ["opened"];
  if (isWithdrawn) steps.push("withdrawn");
  if (isReinstated) steps.push("reinstated");
  for (const step of steps) {
    if (!(await isApplied(disputeStepKey(dispute, step), parts.sql))) await applyDispute({ dispute, step }, parts);
  }
}

async function takeRefund(made: StripeRefund, parts: TopUpParts): Promise<void> {
  const known = await selectRefund(made.refund ?? made.id, parts.sql);
  const isKnown = known !== undefined && (known.state === "failed" || known.state === refundStateOf(made));
  if (!isKnown) await applyRefund(made, parts);
}
