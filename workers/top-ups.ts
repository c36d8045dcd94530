/**
 * The worker that charges saved cards when credit falls below its threshold, and looks up payments without a known outcome. One process of
 * a fleet does each at a time; several at once would not pay twice. Stripe's package is loaded only if cards are accepted.
 */
import type { Lock } from "../src/backing/advisory-lock.ts";
import type { Backing } from "../src/backing/backing.ts";
import type { Counters } from "../src/backing/counters.ts";
import { AvailableCredit, countedCredit } from "../src/gateway/admission/available-credit.ts";
import { topUpCheckMs, topUpSweepAgeMs, topUpSweepMs } from "../src/gateway/top-ups/limits.ts";
import type { StripeApi } from "../src/gateway/top-ups/stripe-api.ts";
import type { TopUpParts } from "../src/gateway/top-ups/change-top-up.ts";
import { sweepTopUps, topUpWhereDue } from "../src/gateway/top-ups/sweep.ts";
import { maintenanceStore } from "../src/gateway/metering/maintenance-store.ts";
import { monthOf, type Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { repeatUntilStopped } from "../src/kernel/repeat.ts";
import type { StripeConfig } from "../src/process/environment/services.ts";
import { mailManagers } from "../src/accounts/mails/mail-managers.ts";

interface TopUpWorkerParts {
  backing: Backing;
  counters: Counters;
  /** null: cards are not accepted. */
  stripe: StripeConfig | null;
  publicUrl: string;
  lock: Lock;
  clock: Clock;
  log: Logger;
}

/** Runs until disposed. Stripe's package is loaded only if cards are accepted. */
export async function startTopUps({ stripe, lock, ...parts }: TopUpWorkerParts): Promise<AsyncDisposable> {
  if (stripe === null) return new AsyncDisposableStack();
  const { stripeClient } = await import("../src/gateway/top-ups/stripe-client.ts");
  return repeatTopUps(topUpParts({ stripe: stripeClient(stripe), ...parts }), lock);
}

/** Runs until disposed. */
export function repeatTopUps(used: TopUpParts, lock: TopUpWorkerParts["lock"]): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const { clock, log } = used;
  const onError = (error: unknown): void =>
    log.warn({ event: "top_ups.failed", reason: String(error) }, "Top-ups could not be checked");
  stack.use(
    repeatUntilStopped({
      clock,
      async round(signal) {
        await using held = await lock("weir top-ups");
        if (held !== null) await topUpWhereDue(used, signal);
      },
      everyMs: topUpCheckMs,
      onError,
    }),
  );
  // What a dead process left is looked up at once. Calls are repeated with their keys, so it does not matter if another process still
  // waits.
  let ageMs = 0;
  stack.use(
    repeatUntilStopped({
      clock,
      async round(signal) {
        await using held = await lock("weir top-up sweeps");
        if (held === null) return;
        await sweepTopUps(ageMs, used, signal);
        ageMs = topUpSweepAgeMs;
      },
      everyMs: topUpSweepMs,
      // The database may start later.
      retryMs: () => topUpCheckMs,
      onError,
    }),
  );
  return stack;
}

function topUpParts({
  backing: { sql, bus },
  counters,
  stripe,
  publicUrl,
  clock,
  log,
}: Omit<TopUpWorkerParts, "stripe" | "lock"> & { stripe: StripeApi }): TopUpParts {
  const maintenance = maintenanceStore(sql);
  const credit = new AvailableCredit({ bus, clock, read: (asked) => countedCredit(asked, counters) });
  return {
    sql,
    clock,
    log,
    publicUrl,
    stripe,
    // A workspace unknown to the counters has no open requests.
    reserved: async (workspace) => (await credit.position({ workspace, key: null }))?.reserved ?? 0n,
    async refresh(workspace) {
      const accounts = await maintenance.readAccounts([workspace], monthOf(await counters.now()));
      await counters.resolveMany({ resolve: [], accounts, keyMonths: [] });
    },
    mailManagers: (mail, tx) => mailManagers(mail, tx, { bus, clock }),
  };
}
