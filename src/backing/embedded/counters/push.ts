/** The ledger's absolute values, stored where they are newer than the known ones. */
import type { AccountPush, KeyMonthPush } from "../../counters.ts";
import { countableBalance } from "../../credit-bound.ts";
import { previousMonth, type Month } from "../../../kernel/clock.ts";
import { forgetBudgets } from "./budgets.ts";
import { keyMonthTotals, monthTotals, type MonthTotals, type WorkspaceCounters } from "./workspace-counters.ts";

export function pushAccount(space: WorkspaceCounters, { balance, sequence, months }: AccountPush, now: number): void {
  if (sequence > space.sequence) {
    space.balance = countableBalance(balance);
    space.sequence = sequence;
  }
  let keepFrom: Month = "";
  for (const { month, spent } of months) {
    const totals = monthTotals(space.months, month);
    const oldest = previousMonth(month);
    const wasKnown = totals.spent !== null;
    pushSpent(totals, { spent, version: sequence, isOld: sequence < space.sequence });
    if (!wasKnown && totals.spent !== null && oldest > keepFrom) keepFrom = oldest;
  }
  if (keepFrom === "") return;
  forgetMonthsBefore(space, keepFrom);
  forgetBudgets(space.budgets, now);
}

export function pushKeyMonth(space: WorkspaceCounters, { key, month, spent, version, sequence }: KeyMonthPush): void {
  pushSpent(keyMonthTotals(space, key, month), { spent, version, isOld: sequence < space.sequence });
}

/** A known total is fenced by its own version; an unknown one is not set by a push that is older than the balance. */
function pushSpent(totals: MonthTotals, { spent, version, isOld }: { spent: bigint; version: bigint; isOld: boolean }): void {
  if (version <= totals.version || (totals.spent === null && isOld)) return;
  totals.spent = spent;
  totals.version = version;
}

/** Months that ended long ago would otherwise stay for ever; a month with a hold stays until that is released. */
function forgetMonthsBefore(space: WorkspaceCounters, oldest: Month): void {
  for (const months of [space.months, ...space.keyMonths.values()]) {
    for (const [month, totals] of months) {
      if (month >= oldest) continue;
      totals.spent = null;
      totals.version = -1n;
      if (totals.held === 0n) months.delete(month);
    }
  }
}
