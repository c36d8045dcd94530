/**
 * Finds what Stripe did not report and what a dead process left unfinished. Every 10 minutes it looks up unfinished payments older than 5
 * minutes and repeats their calls, and lists the disputes and refunds of the last 30 days. Stripe gives up on an event after three days,
 * and someone who profits from a lost event may keep the endpoint busy that long. Nothing changes if the events arrived. A failure of one
 * does not affect the others, and is looked at again in the next round.
 */
import type { Logger } from "../../kernel/log.ts";
import { retryPayment, topUpAutomatically } from "./automatic.ts";
import type { TopUpParts } from "./change-top-up.ts";
import { topUpBatchMax, topUpsAtOnceMax, topUpSweepMax, webhookEventsKeptMs, stripeListedMax, takenBackAgeMs } from "./limits.ts";
import { checkTopUp } from "./payments.ts";
import * as store from "./store.ts";
import type { StripeDispute, StripeRefund } from "./stripe-api.ts";
import { sendRefund, applyDispute, disputeStepKey, type DisputeStep, applyRefund, refundStateOf } from "./take-back.ts";

/** Tops up the workspaces whose credit is below their threshold, and tries declined payments again. */
export async function topUpWhereDue(parts: TopUpParts, signal?: AbortSignal): Promise<void> {
  const now = new Date(parts.clock.now());
  const retries = await store.selectRetriesDue({ now, limit: topUpSweepMax }, parts.sql);
  await eachOf(retries, (topUp) => retryPayment(topUp, parts), { log: parts.log, signal });
  for (let after = ""; !signal?.aborted;) {
    const workspaces = await store.selectWatched({ after, limit: topUpBatchMax }, parts.sql);
    const last = workspaces.at(-1);
    if (last === undefined) return;
    after = last;
    await eachOf(workspaces, (workspace) => topUpAutomatically(workspace, parts), { log: parts.log, signal });
  }
}

/** @param ageMs newer ones are left to the process that made them */
export async function sweepTopUps(ageMs: number, parts: TopUpParts, signal?: AbortSignal): Promise<void> {
  const { sql, clock, log } = parts;
  const before = new Date(clock.now() - ageMs);
  const topUps = await store.selectUnfinished({ triedBefore: before, limit: topUpSweepMax }, sql);
  await eachOf(topUps, (topUp) => checkTopUp(topUp, parts), { log, signal });
  const refunds = await store.selectPendingRefunds({ madeBefore: before, limit: topUpSweepMax }, sql);
  await eachOf(refunds, (refund) => sendRefund(refund, parts), { log, signal });
  await store.deleteEvents(new Date(clock.now() - webhookEventsKeptMs), sql);
  await sweepTakenBack(parts, signal);
}

/** A few at once. A failure of one does not affect the others. */
async function eachOf<T>(
  all: readonly T[],
  act: (one: T) => Promise<unknown>,
  { log, signal }: { log: Logger; signal: AbortSignal | undefined },
): Promise<void> {
  const queue = all.values();
  const lanes = Array.from({ length: topUpsAtOnceMax }, async () => {
    for (const one of queue) {
      if (signal?.aborted) return;
      await act(one).catch((error: unknown) =>
        log.warn(
          { event: "top_up.waits", reason: String(error) },
          "The outcome of a payment is not known yet; it is asked again",
        ),
      );
    }
  });
  await Promise.all(lanes);
}

/** Disputes of the last 30 days, refunds made in Stripe's dashboard, and refunds that failed since. Changes nothing if the events arrived. */
async function sweepTakenBack(parts: TopUpParts, signal?: AbortSignal): Promise<void> {
  const { stripe, clock } = parts;
  const since = clock.now() - takenBackAgeMs;
  await each(stripe.listDisputes(since), (dispute) => takeDispute(dispute, parts), { what: "disputes", parts, signal });
  await each(stripe.listRefunds(since), (refund) => takeRefund(refund, parts), { what: "refunds", parts, signal });
}

/** Newest first, at most this many. */
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
    if (!(await store.isApplied(disputeStepKey(dispute, step), parts.sql))) await applyDispute({ dispute, step }, parts);
  }
}

async function takeRefund(made: StripeRefund, parts: TopUpParts): Promise<void> {
  const known = await store.selectRefund(made.refund ?? made.id, parts.sql);
  const isKnown = known !== undefined && (known.state === "failed" || known.state === refundStateOf(made));
  if (!isKnown) await applyRefund(made, parts);
}
