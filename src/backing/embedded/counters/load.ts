/** Makes a workspace ready: all but its windows is written anew from the ledger's values and the given holds. */
import type { AccountPush, WorkspaceLoad } from "../../counters.ts";
import { admissionLog, addHold, unknownWorkspace, type WorkspaceCounters } from "./workspace-counters.ts";
import { newestBudget } from "./budgets.ts";
import { rateWindowMs } from "../../limits.ts";
import type { Tombstones } from "./tombstones.ts";

/** @returns the workspace that replaces `known` */
export function load(
  known: WorkspaceCounters,
  { account, budgets = [], holds, windows }: WorkspaceLoad,
  { now, tombstones }: { now: number; tombstones: Tombstones },
): WorkspaceCounters {
  const space = { ...unknownWorkspace(), ready: true, logs: known.logs, lending: known.lending, ...newestHead(known, account) };
  for (const { month, spent } of account.months) {
    const before = known.months.get(month);
    const newest = before && before.version > account.sequence ? before : { spent, version: account.sequence };
    space.months.set(month, { spent: newest.spent, version: newest.version, held: 0n });
  }
  for (const { name, ...total } of budgets) {
    space.budgets.set(name, newestBudget(known.budgets.get(name), { ...total, version: account.sequence }));
  }
  for (const hold of holds) {
    const isResolved = tombstones.find({ workspace: account.workspace, generation: hold.generation }, now) !== null;
    if (!isResolved && !space.holds.has(hold.generation)) addHold(space, hold);
  }
  for (const { key, times } of windows) {
    const inWindow = times.filter((time) => time > now - rateWindowMs).toSorted((a, b) => a - b);
    admissionLog(space, key).merge(inWindow);
  }
  return space;
}

/** A push may have arrived after the loader read the ledger: of two values the one with the newer version stays. */
function newestHead(
  known: WorkspaceCounters,
  { balance, sequence }: AccountPush,
): Pick<WorkspaceCounters, "balance" | "sequence"> {
  return known.sequence > sequence ? { balance: known.balance, sequence: known.sequence } : { balance, sequence };
}
