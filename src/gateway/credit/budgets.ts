/**
 * Budgets: caps in addition to the limits of the month, for a key's day, the workspace's day and a member's month, in UTC. This module has
 * their names, periods and texts; the counters enforce them with each reservation (backing/counters.ts), and the ledger keeps the totals
 * from the first request that needs them (store.ts). A request counts in the period of its admission, even if it ends in the next one.
 */
import type { KeyRecord } from "../../accounts/keys/record.ts";
import type { Budget, BudgetHold } from "../../backing/counters.ts";
import { dayAfter, dayOf, monthBounds, monthOf } from "../../kernel/clock.ts";

/** Names are the same in the counters and in the ledger; the migrations say which charges each counts. */
const workspaceDay = "day:";

type Limits = Pick<KeyRecord, "id" | "dailyLimit" | "workspaceDailyLimit" | "memberBudget">;

/** The budgets that bound a caller, in the order of their checks; null: none is set. */
export function budgetsOf({ id, dailyLimit, workspaceDailyLimit, memberBudget }: Limits): Budget[] | null {
  if (!dailyLimit && !workspaceDailyLimit && !memberBudget) return null;
  const budgets: Budget[] = [];
  if (dailyLimit) {
    budgets.push({ name: `day:${id}`, period: "day", limit: dailyLimit, refusal: "key_spend_limit_exceeded" });
  }
  const ofWorkspace = { refusal: "account_spend_limit_exceeded" } as const;
  if (workspaceDailyLimit) budgets.push({ name: workspaceDay, period: "day", limit: workspaceDailyLimit, ...ofWorkspace });
  if (memberBudget) {
    const { caller, limit } = memberBudget;
    budgets.push({ name: `month:${caller}`, period: "month", limit, ...ofWorkspace });
  }
  return budgets;
}

/** What a budget bounds, for messages: completes "The request would pass …". */
export function budgetWords(name: string, isMember: boolean): string {
  if (name === workspaceDay) return "the workspace's daily spend limit";
  if (name.startsWith("day:")) return "this key's daily spend limit";
  return isMember ? "this member's monthly spend limit" : "the monthly spend limit of this key's owner";
}

/** The first millisecond of the budget period that contains a time. */
export function budgetStart({ period }: Pick<Budget, "period">, ms: number): number {
  return period === "day" ? dayOf(ms) : monthBounds(monthOf(ms)).startMs;
}

/** Whether a request that was admitted then counts in the period of a total. */
export function isInPeriod({ name, since }: BudgetHold, admittedAt: number): boolean {
  const end = name.startsWith("day:") ? dayAfter(since) : monthBounds(monthOf(since)).endMs;
  return admittedAt >= since && admittedAt < end;
}
