/** Counters with a clock that a test moves and a view of their state, on which both implementations must agree. */
import type { BudgetHold, Counters, Hold } from "../../../src/backing/counters.ts";
import { rateWindowMs } from "../../../src/backing/limits.ts";

/** The start of a test's time: in the middle of a month. */
export const countersStartMs = Date.UTC(2026, 10, 20, 12);

/** The workspaces in tests. */
export const countedWorkspaces = ["w1", "w2", "w3"] as const;

/** The state of a workspace, in one form for both. Zero and unknown values are omitted. */
export interface Dump {
  ready: boolean;
  /** Balance, its sequence, and the sum of holds. */
  account: { balance: string; sequence: string; reserved: string };
  /** By month, by key and month, and by budget and the beginning of its period. */
  totals: Record<string, { spent: string | null; version: string; held: string }>;
  /** By key: the times that still count. */
  windows: Record<string, number[]>;
  /** By generation, as fingerprint|amount|key|month|admitted at|deadline, and its budgets after commas if it has any. */
  holds: Record<string, string>;
  /** By generation: when the sweeper checks it. */
  deadlines: Record<string, number>;
}

export interface CountersHarness extends AsyncDisposable {
  readonly counters: Counters;
  now(): number;
  /** Moves the store's clock, backwards if `ms` is negative. */
  advance(ms: number): Promise<void>;
  /** The store loses everything. */
  wipe(): Promise<void>;
  /** The store restarts with its data. */
  restart(): Promise<void>;
  dump(workspace: string): Promise<Dump>;
}

export function holdText({ fingerprint, amount, key, month, admittedAt, deadline, budgets }: Hold): string {
  const text = [fingerprint, amount, key, month, admittedAt, deadline].join("|");
  return budgets ? `${text}|${budgets.map(budgetText).join(",")}` : text;
}

export function budgetText({ name, since }: BudgetHold): string {
  return `${name}@${since}`;
}

/** Expired times may still be there: they do not count. */
export function countedTimes(windows: Iterable<[key: string, times: readonly number[]]>, clockMs: number): Dump["windows"] {
  const counted: Dump["windows"] = {};
  for (const [key, times] of windows) {
    const cut = Math.max(clockMs, times.at(-1) ?? 0) - rateWindowMs;
    const left = times.filter((time) => time > cut);
    if (left.length > 0) counted[key] = left;
  }
  return counted;
}
