/** Once a minute the ledger's heads are pushed to the counters: whatever push was lost is made good, and drift cannot last. */
import type { Database } from "../backing/backing.ts";
import type { Counters } from "../backing/counters.ts";
import { monthOf, sleep, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { reconcileMs, sweepBatchMax } from "../limits/constants.ts";
import { listWorkspaces, makeLogPartitions, readAccounts } from "./upkeep-store.ts";

export interface ReconcileParts {
  counters: Counters;
  sql: Database;
  clock: Clock;
  log: Logger;
}

/** Pushes every minute, and makes the log's partitions ahead, until aborted. */
export async function reconcileForEver(parts: ReconcileParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await reconcile(parts).catch((error: unknown) => parts.log.warn({ event: "reconcile.failed", reason: String(error) }));
    await sleep(parts.clock, reconcileMs, signal);
  }
}

export async function reconcile({ counters, sql, clock }: ReconcileParts): Promise<void> {
  const now = await counters.now();
  await makeLogPartitions(clock.now(), sql);
  for (let after = ""; ;) {
    const workspaces = await listWorkspaces(after, sweepBatchMax, sql);
    const last = workspaces.at(-1);
    if (last === undefined) return;
    after = last;
    const accounts = await readAccounts(workspaces, monthOf(now), sql);
    await counters.resolveMany({ resolve: [], accounts, keyMonths: [] });
  }
}
