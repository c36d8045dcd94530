/** The worker that settles: the only one that writes charges, the ledger, month totals and the request log. One is enough; more are safe. */
import type { Backing } from "../src/backing/backing.ts";
import type { Counters } from "../src/backing/counters.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { startReconciliation } from "../src/gateway/metering/reconcile.ts";
import { settlementStore } from "../src/gateway/metering/store.ts";
import { startSweeps } from "../src/gateway/metering/sweep.ts";
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
  await using stack = new AsyncDisposableStack();
  stack.use(startSweeps(parts));
  stack.use(startReconciliation(parts));
  stack.use(await consumeSettlements(parts));
  return stack.move();
}
