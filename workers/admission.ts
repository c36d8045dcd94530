/**
 * The worker that decides admissions for all gateways. Any number of workers may run: the counters are shared, and a worker keeps no state
 * that a successor could not reload.
 */
import { findKeyRecords } from "../src/accounts/keys/find.ts";
import type { Backing } from "../src/backing/backing.ts";
import type { Counters } from "../src/backing/counters.ts";
import { openCounters } from "../src/backing/open-backing.ts";
import type { ModelsView } from "../src/gateway/admission/decide.ts";
import { MeteringLagGuard } from "../src/gateway/admission/worker/guards.ts";
import { AdmissionService } from "../src/gateway/admission/worker/service.ts";
import { loadAccount, readKeyMonth, readPositions } from "../src/gateway/credit/load.ts";
import { openBudgets, beginEpochs, selectClaims, selectServer } from "../src/gateway/credit/store.ts";
import { logSkewMs } from "../src/gateway/limits.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import { observe } from "../src/kernel/metrics.ts";
import { type KindParts, modelsOf } from "./kind.ts";

export interface AdmissionWorkerParts {
  backing: Backing;
  counters: Counters;
  models: ModelsView;
  clock: Clock;
  log: Logger;
}

export async function startAdmission({ backing, counters, models, clock, log }: AdmissionWorkerParts): Promise<AsyncDisposable> {
  const { bus, sql } = backing;
  const stack = new AsyncDisposableStack();
  const metering = stack.use(new MeteringLagGuard(bus, clock));
  observe("weir_metering_lag_seconds", () => metering.lagMs / 1_000);
  observe("weir_stream_events_waiting", () => ({ settlements: metering.waiting }));
  const service = new AdmissionService({
    bus,
    counters,
    models,
    metering,
    clock,
    log,
    findRecords: (hashes) => findKeyRecords(hashes, sql),
    store: {
      account: (workspace, generations) => loadAccount({ workspace, generations }, sql),
      keyMonth: (workspace, key, month) => readKeyMonth({ workspace, key, month }, sql),
      budgets: (workspace, totals) => openBudgets({ workspace, totals }, sql),
      claims: (claims, since) => selectClaims({ claims, since, skewMs: logSkewMs }, sql),
      positions: (counted) => readPositions(counted, sql),
      beginEpochs: (starts) => beginEpochs(starts, sql),
      server: () => selectServer(sql),
    },
  });
  stack.use(bus.listen("records-changed", () => service.keyRecords.clear()));
  stack.use(await bus.serve("admission", (payload) => service.reply(payload)));
  return stack;
}

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const counters = stack.use(await openCounters(parts));
  const models = stack.use(await modelsOf(parts, { keyring: "unused" }));
  stack.use(await startAdmission({ ...parts, counters, models }));
  return stack.move();
}
