/**
 * Budgets of a workspace: totals of UTC days and months that are counted only where a limit is set. A request counts in the latest period
 * that one of its budgets has reached, so a clock that was set back frees nothing. Periods that ended long ago are forgotten.
 */
import { dayAfter } from "../../kernel/clock.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { AdmitRequest, Budget, BudgetHold, BudgetPush, BudgetTotal } from "../counters.ts";
import { budgetKeptMs } from "../limits.ts";

/** A budget's total, in the latest period that was pushed. */
export interface BudgetCounter {
  /** First millisecond of the period. */
  since: number;
  spent: NanoUsd;
  version: bigint;
  /** Sum of open holds that count against it in this period. */
  held: NanoUsd;
}

/** A workspace's budgets, by name. */
export type BudgetCounters = Map<string, BudgetCounter>;

/** The periods that the sender of a batch assumes. */
interface Periods {
  now: number;
  day: number;
  startMs: number;
  endMs: number;
}

/** Whether the store's clock is outside a period that the sender assumes. */
export function isOutsideBudgets(budgets: readonly Budget[], periods: Periods): boolean {
  return budgets.some(({ period }) => {
    const { since, ends } = boundsOf(period, periods);
    return periods.now < since || periods.now >= ends;
  });
}

/**
 * The budgets of a request, and the time that it counts under: never before a period that one of them has reached, so that a clock that
 * was set back frees nothing.
 * @param at the time without budgets
 */
export function openBudgets(
  known: BudgetCounters,
  budgets: readonly Budget[],
  { at, periods }: { at: number; periods: Periods },
): { counters: BudgetCounter[]; at: number } | "unknown" | "outside" {
  const counters: BudgetCounter[] = [];
  let time = at;
  for (const { name, period } of budgets) {
    const counter = known.get(name);
    if (!counter || counter.since < boundsOf(period, periods).since) return "unknown";
    counters.push(counter);
    time = Math.max(time, counter.since);
  }
  const isOver = budgets.some(({ period }, index) => {
    const { since, ends } = boundsOf(period, periods);
    return counters[index]?.since === since && time >= ends;
  });
  return isOver ? "outside" : { counters, at: time };
}

/** The first budget that the amount would exceed, with what it would still allow; null: none. */
export function passedBudget(
  { amount, budgets = [] }: AdmitRequest,
  counters: readonly BudgetCounter[],
): { budget: Budget; headroom: NanoUsd } | null {
  for (const [index, budget] of budgets.entries()) {
    const { spent, held } = counters[index] ?? { spent: 0n, held: 0n };
    const headroom = budget.limit - spent - held;
    if (amount > headroom) return { budget, headroom: headroom > 0n ? headroom : 0n };
  }
  return null;
}

/** The budgets that a hold counts against, as it stores them. */
export function holdsOf({ budgets = [] }: AdmitRequest, counters: readonly BudgetCounter[]): BudgetHold[] {
  return budgets.map(({ name }, index) => ({ name, since: counters[index]?.since ?? 0 }));
}

/** A hold of an earlier period than the known one no longer counts. */
export function changeHeldInBudgets(known: BudgetCounters, holds: readonly BudgetHold[], change: NanoUsd): void {
  for (const { name, since } of holds) {
    const counter = known.get(name);
    if (counter?.since === since) counter.held += change;
  }
}

/**
 * A known total is fenced by its own version; an unknown one is not set by a push that is older than the balance. A total that may have
 * been forgotten stays unknown: holds that count in it would take back what it does not hold.
 */
export function pushBudget(
  { budgets, sequence: ofBalance }: { budgets: BudgetCounters; sequence: bigint },
  { name, since, spent, sequence }: BudgetPush,
  now: number,
): void {
  const known = budgets.get(name);
  if (known?.since === since) {
    if (sequence > known.version) Object.assign(known, { spent, version: sequence });
  } else if ((known?.since ?? -1) < since && isKept(since, now) && sequence >= ofBalance) {
    budgets.set(name, { since, spent, version: sequence, held: 0n });
  }
}

/** Months that ended long ago would otherwise keep the budgets of keys that are no longer used. */
export function forgetBudgets(known: BudgetCounters, now: number): void {
  for (const [name, { since, held }] of known) if (held === 0n && !isKept(since, now)) known.delete(name);
}

/** Within one period the total with the newer version stays, otherwise the later period's. */
export function newestBudget(
  known: BudgetCounter | undefined,
  { since, spent, version }: Pick<BudgetTotal, "since" | "spent"> & { version: bigint },
): BudgetCounter {
  const isNewer = known !== undefined && (known.since > since || (known.since === since && known.version > version));
  return isNewer ? { ...known, held: 0n } : { since, spent, version, held: 0n };
}

function boundsOf(period: Budget["period"], { day, startMs, endMs }: Periods): { since: number; ends: number } {
  return period === "day" ? { since: day, ends: dayAfter(day) } : { since: startMs, ends: endMs };
}

function isKept(since: number, now: number): boolean {
  return since > now - budgetKeptMs;
}
