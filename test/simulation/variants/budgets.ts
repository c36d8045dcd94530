/** The budgets of a run. They draw from random numbers of their own, so that they change nothing in runs without them. */
import type { KeyRecord } from "../../../src/accounts/keys/record.ts";
import { Chance } from "../chance.ts";
import type { PlannedWorkspace } from "../plan.ts";
import type { Recorder } from "../recorder.ts";
import type { World } from "../world/world.ts";

/** Amounts; null: none. */
export interface PlannedBudgets {
  workspaceDay: bigint | null;
  /** The daily budget of each key, in their order. */
  keyDays: (bigint | null)[];
  /** The monthly budget of the member who owns all keys. */
  memberMonth: bigint | null;
}

export function budgetChanceOf(seed: number): Chance {
  return new Chance(seed ^ 0x5bd1e995);
}

/** Three of five runs have budgets. */
export function hasBudgets(seed: number): boolean {
  return seed % 5 > 1;
}

export const noBudgets: PlannedBudgets = { workspaceDay: null, keyDays: [], memberMonth: null };

/** @param unit budgets are one to six of it */
export function someBudgets({ keys, unit }: { keys: number; unit: bigint }, chance: Chance): PlannedBudgets {
  const some = (): bigint | null => (chance.happens(0.5) ? unit * BigInt(chance.between(1, 6)) : null);
  return { workspaceDay: some(), keyDays: Array.from({ length: keys }, some), memberMonth: some() };
}

/** The caller id of the member who owns all keys of a workspace. */
export function memberOf(workspace: string): string {
  return workspace.replace("ws", "mbr");
}

/** The fields of a key's record, by its place among the keys of its workspace. */
export function budgetFields(
  { id, budgets: { workspaceDay, keyDays, memberMonth } }: Pick<PlannedWorkspace, "id" | "budgets">,
  place: number,
): Pick<KeyRecord, "dailyLimit" | "workspaceDailyLimit" | "memberBudget"> {
  const memberBudget = memberMonth === null ? null : { caller: memberOf(id), limit: memberMonth };
  return { workspaceDailyLimit: workspaceDay, dailyLimit: keyDays[place] ?? null, memberBudget };
}

/** @param owners the members who own keys, by key */
export function noteBudgets(record: KeyRecord, { owners, recorder }: { owners: Map<string, string>; recorder: Recorder }): void {
  const { id: key, workspace, dailyLimit = null, workspaceDailyLimit = null, memberBudget } = record;
  const member = owners.get(key);
  recorder.note({ kind: "budget", workspace, name: `day:${key}`, keys: [key], limit: dailyLimit });
  recorder.note({ kind: "budget", workspace, name: "day:", keys: null, limit: workspaceDailyLimit });
  if (member === undefined) return;
  const keys = [...owners].flatMap(([of, owner]) => (owner === member ? [of] : []));
  recorder.note({ kind: "budget", workspace, name: `month:${member}`, keys, limit: memberBudget?.limit ?? null });
}

/** Plans changes of budgets in the first half of the run, so that their effects can be checked. */
export function planBudgetChanges(world: World, unit: bigint): void {
  const { plan, scheduler } = world;
  const chance = plan.budgetChance;
  for (let times = chance.between(0, 3); times > 0; times--) {
    scheduler.plan(chance.next() * plan.busyMs * 0.5, null, () =>
      world.injectFault("budgets are changed", () => {
        const workspace = chance.pick(plan.workspaces);
        workspace.budgets = someBudgets({ keys: workspace.keys.length, unit }, chance);
        for (const [place, key] of workspace.keys.entries()) world.changeKey(key, budgetFields(workspace, place));
      }),
    );
  }
}
