/** What Stripe did not tell, or what a dead process left: unfinished payments, disputes and refunds are looked up, and calls repeated. */
import type { Logger } from "../../../kernel/log.ts";
import { topUpBatchMax, topUpsAtOnceMax, topUpSweepMax, webhookEventsKeptMs } from "../limits.ts";
import { retryPayment, topUpAutomatically } from "./automatic.ts";
import { checkTopUp } from "./check.ts";
import { deleteEvents } from "../events-store.ts";
import type { TopUpParts } from "../parts.ts";
import { selectPendingRefunds } from "../refunds-store.ts";
import { sendRefund } from "../take-back/send-refund.ts";
import { sweepTakenBack } from "../take-back/sweep-taken-back.ts";
import { selectWatched } from "../settings-store.ts";
import { selectRetriesDue, selectUnfinished } from "../store.ts";

/** Tops up the workspaces whose credit is below their threshold, and tries declined payments again. */
export async function topUpWhereDue(parts: TopUpParts, signal?: AbortSignal): Promise<void> {
  const now = new Date(parts.clock.now());
  const retries = await selectRetriesDue({ now, limit: topUpSweepMax }, parts.sql);
  await eachOf(retries, (topUp) => retryPayment(topUp, parts), { log: parts.log, signal });
  for (let after = ""; !signal?.aborted;) {
    const workspaces = await selectWatched({ after, limit: topUpBatchMax }, parts.sql);
    const last = workspaces.at(-1);
    if (last === undefined) return;
    after = last;
    await eachOf(workspaces, (workspace) => topUpAutomatically(workspace, parts), { log: parts.log, signal });
  }
}

/** @param ageMs younger ones are left to the process that made them */
export async function sweepTopUps(ageMs: number, parts: TopUpParts, signal?: AbortSignal): Promise<void> {
  const { sql, clock, log } = parts;
  const before = new Date(clock.now() - ageMs);
  const topUps = await selectUnfinished({ triedBefore: before, limit: topUpSweepMax }, sql);
  await eachOf(topUps, (topUp) => checkTopUp(topUp, parts), { log, signal });
  const refunds = await selectPendingRefunds({ madeBefore: before, limit: topUpSweepMax }, sql);
  await eachOf(refunds, (refund) => sendRefund(refund, parts), { log, signal });
  await deleteEvents(new Date(clock.now() - webhookEventsKeptMs), sql);
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
