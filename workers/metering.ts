/** The worker that settles. Only this kind writes charges, ledger, month totals and the request log. Several are safe, one is enough. */
import type { Backing } from "../src/backing/backing.ts";
import type { Counters } from "../src/backing/counters.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { reconcileUntilStopped } from "../src/gateway/metering/reconcile.ts";
import { settlementStore } from "../src/gateway/metering/store.ts";
import { sweepUntilStopped } from "../src/gateway/metering/sweep.ts";
import { maintenanceStore } from "../src/gateway/metering/maintenance-store.ts";
import { consumeSettlements } from "../src/gateway/metering/worker.ts";

export interface MeteringWorkerParts {
  backing: Backing;
  counters: Counters;
  clock: Clock;
  log: Logger;
}

export async function startMetering({ backing, counters, clock, log }: MeteringWorkerParts): Promise<AsyncDisposable> {
  const parts = {
    ...backing,
    counters,
    clock,
    log,
    store: settlementStore(backing.sql),
    maintenance: maintenanceStore(backing.sql),
  };
  const stop = new AbortController();
  const loops = [sweepUntilStopped(parts, stop.signal), reconcileUntilStopped(parts, stop.signal)];
  const consuming = await consumeSettlements(parts);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await consuming[Symbol.asyncDispose]();
      await Promise.all(loops);
    },
  };
}
