/** The worker that settles. Only this kind writes charges, ledger, month totals and the request log. Several are safe, one is enough. */
import type { Backing } from "../src/backing/backing.ts";
import type { Counters } from "../src/backing/counters.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { reconcileForEver } from "../src/gateway/metering/reconcile.ts";
import { settlementStore } from "../src/gateway/metering/store.ts";
import { sweepForEver } from "../src/gateway/metering/sweep.ts";
import { upkeepStore } from "../src/gateway/metering/upkeep-store.ts";
import { consumeSettlements } from "../src/gateway/metering/worker.ts";

export interface MeteringWorkerParts {
  backing: Backing;
  counters: Counters;
  clock: Clock;
  log: Logger;
}

export async function startMetering({ backing, counters, clock, log }: MeteringWorkerParts): Promise<AsyncDisposable> {
  const parts = { ...backing, counters, clock, log, store: settlementStore(backing.sql), upkeep: upkeepStore(backing.sql) };
  const stop = new AbortController();
  const loops = [sweepForEver(parts, stop.signal), reconcileForEver(parts, stop.signal)];
  const consuming = await consumeSettlements(parts);
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await consuming[Symbol.asyncDispose]();
      await Promise.all(loops);
    },
  };
}
