/** Pushes the ledger's heads to the counters once a minute, which repairs lost pushes and drift. */
import type { Counters } from "../../backing/counters.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { reconcileMs, sweepBatchMax } from "../limits.ts";
import type { MaintenanceStore } from "./maintenance-store.ts";

export interface ReconcileParts {
  counters: Counters;
  maintenance: Pick<MaintenanceStore, "listWorkspaces" | "readAccounts" | "makeMonthsAhead">;
  clock: Clock;
  log: Logger;
}

/** Every minute until disposed, makes the partitions of generations ahead and pushes the heads. A failure of one does not stop the other. */
export function startReconciliation(parts: ReconcileParts): AsyncDisposable {
  const { clock, maintenance, log } = parts;
  return repeatUntilStopped({
    clock,
    async round() {
      await maintenance
        .makeMonthsAhead(clock.now())
        .catch((error: unknown) =>
          log.warn(
            { event: "partitions.failed", reason: String(error) },
            "The partitions of generations could not be made ahead",
          ),
        );
      await reconcile(parts);
    },
    everyMs: reconcileMs,
    onError: (error) => log.warn({ event: "reconcile.failed", reason: String(error) }, "The ledger's heads could not be pushed"),
  });
}

export async function reconcile({ counters, maintenance }: Pick<ReconcileParts, "counters" | "maintenance">): Promise<void> {
  const now = await counters.now();
  for (let after = ""; ;) {
    const workspaces = await maintenance.listWorkspaces(after, sweepBatchMax);
    const last = workspaces.at(-1);
    if (last === undefined) return;
    after = last;
    const accounts = await maintenance.readAccounts(workspaces, monthOf(now));
    await counters.resolveMany({ resolve: [], accounts, keyMonths: [] });
  }
}
