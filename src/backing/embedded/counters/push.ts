/** The ledger's absolute values, taken over where they are newer than what is known. */
import type { AccountPush, KeyMonthPush } from "../../counters.ts";
import { countableBalance } from "../../credit-bound.ts";
import { monthBounds, monthOf, type Month } from "../../../kernel/clock.ts";
import { keyMonthTotals, monthTotals, type MonthTotals, type WorkspaceCounters } from "./workspace-counters.ts";

/** A push that is older than the balance is stale in all it says, also of a month that is not known yet. */
export function pushAccount(space: WorkspaceCounters, { balance, sequence, months }: AccountPush): void {
  if (sequence < space.sequence) return;
  if (sequence > space.sequence) {
    space.balance = countableBalance(balance);
    space.sequence = sequence;
  }
  let keepFrom: Month = "";
  for (const { month, spent } of months) {
    const totals = monthTotals(space.months, month);
    const oldest = monthOf(monthBounds(month).startMs - 1);
    if (totals.spent === null && oldest > keepFrom) keepFrom = oldest;
    pushSpent(totals, spent, sequence);
  }
  if (keepFrom !== "") forgetMonthsBefore(space, keepFrom);
}

export function pushKeyMonth(space: WorkspaceCounters, { key, month, spent, version }: KeyMonthPush): void {
  pushSpent(keyMonthTotals(space, key, month), spent, version);
}

function pushSpent(totals: MonthTotals, spent: bigint, version: bigint): void {
  if (version <= totals.version) return;
  totals.spent = spent;
  totals.version = version;
}

/** Months that ended long ago would otherwise stay for ever; what still has a hold stays until that is released. */
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
