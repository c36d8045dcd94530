/**
 * The worker that settles charges, and the only one that writes generations, ledger charges and month totals. Several workers divide the
 * workspaces among themselves, and take over those of one that dies.
 */
import { startWatchingSpend } from "../src/accounts/alerts/watch-spend.ts";
import { type Lock, tryAdvisoryLock } from "../src/backing/advisory-lock.ts";
import type { Backing } from "../src/backing/backing.ts";
import type { Counters } from "../src/backing/counters.ts";
import { openCounters } from "../src/backing/open-backing.ts";
import { maintenanceStore } from "../src/gateway/metering/maintenance-store.ts";
import { startReconciliation, replayWhatIsDue, startReplays, startSweeps } from "../src/gateway/metering/maintenance.ts";
import { settlementStore } from "../src/gateway/metering/store.ts";
import { consumeSettlements } from "../src/gateway/metering/worker.ts";
import { startForgettingAnswers } from "../src/gateway/prompts/kept-answers.ts";
import { startPromptRetention } from "../src/gateway/prompts/retain.ts";
import { startForgettingRefusals } from "../src/gateway/refusals/refused-calls.ts";
import { startClosing } from "../src/gateway/statements/close.ts";
import { startUsageReports } from "../src/gateway/usage/report.ts";
import { startRollUp } from "../src/gateway/usage/roll-up.ts";
import type { Clock } from "../src/kernel/clock.ts";
import type { Logger } from "../src/kernel/log.ts";
import type { KindParts } from "./kind.ts";
import { startTopUps } from "./top-ups.ts";

export interface MeteringWorkerParts {
  backing: Backing;
  counters: Counters;
  lock: Lock;
  clock: Clock;
  log: Logger;
  /** Whether this process is the whole service. */
  isAlone?: boolean;
}

export async function startMetering({
  backing,
  counters,
  lock,
  clock,
  log,
  isAlone = false,
}: MeteringWorkerParts): Promise<AsyncDisposable> {
  const parts = {
    ...backing,
    counters,
    lock,
    clock,
    log,
    store: settlementStore(backing.sql),
    maintenance: maintenanceStore(backing.sql),
  };
  await using stack = new AsyncDisposableStack();
  // The stream is in the database itself, so replaying cannot book anything twice; the first request should not wait for it.
  if (isAlone) await replayWhatIsDue(null, new AbortController().signal, parts);
  stack.use(startSweeps(parts));
  stack.use(startReconciliation(parts));
  stack.use(startReplays(parts));
  stack.use(startRollUp(parts));
  stack.use(startWatchingSpend(parts));
  stack.use(startUsageReports(parts));
  stack.use(startClosing(parts));
  stack.use(startPromptRetention(parts));
  stack.use(startForgettingAnswers(parts));
  stack.use(startForgettingRefusals(parts));
  stack.use(await consumeSettlements(parts));
  return stack.move();
}

export async function start(parts: KindParts): Promise<AsyncDisposable> {
  const { config, backing, clock, log } = parts;
  const { stripe, publicUrl } = config;
  await using stack = new AsyncDisposableStack();
  const counters = stack.use(await openCounters(parts));
  const lock = (name: string) => tryAdvisoryLock(name, { ...backing, clock });
  stack.use(await startTopUps({ backing, counters, stripe, publicUrl, lock, clock, log }));
  stack.use(await startMetering({ backing, counters, lock, clock, log }));
  return stack.move();
}
