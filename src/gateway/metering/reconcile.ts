/** Pushes the ledger's heads to the counters once a minute, which repairs lost pushes and drift. */
import type { Counters } from "../../backing/counters.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/log.ts";
import { observe } from "../../kernel/metrics.ts";
import { usdAsJsonNumber } from "../../kernel/money.ts";
import { repeatUntilStopped } from "../../kernel/repeat.ts";
import { reconcileMs, sweepBatchMax } from "../limits.ts";
import { CreditLeft } from "./credit-left.ts";
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
  let left = new CreditLeft();
  observe("weir_credit_usd", () => usdAsJsonNumber(left.total));
  observe("weir_workspaces", () => left.workspaces);
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
      left = await reconcile(parts);
    },
    everyMs: reconcileMs,
    onError: (error) => log.warn({ event: "reconcile.failed", reason: String(error) }, "The ledger's heads could not be pushed"),
  });
}

/**
 * One round over all workspaces. @returns the credit that they have left
 * @throws Error of the counters at the end, when some workspaces could not be pushed: a part of the store may be down
 */
export async function reconcile({
  counters,
  maintenance,
}: Pick<ReconcileParts, "counters" | "maintenance">): Promise<CreditLeft> {
  const now = await counters.now();
  const left = new CreditLeft();
  const failures: unknown[] = [];
  for (let after = ""; ;) {
    const workspaces = await maintenance.listWorkspaces(after, sweepBatchMax);
    const last = workspaces.at(-1);
    if (last === undefined) break;
    after = last;
    const accounts = await maintenance.readAccounts(workspaces, monthOf(now));
    for (const { balance } of accounts) left.add(balance);
    await counters.resolveMany({ resolve: [], accounts, keyMonths: [] }).catch((error: unknown) => failures.push(error));
  }
  for (const error of failures) throw error;
  return left;
}
