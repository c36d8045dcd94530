/**
 * Runs in which blocks are lent: credit, limits and rates are large compared with a request, and keys are used often. They draw from random
 * numbers of their own, so that runs without blocks do not change.
 */
import { Chance } from "../chance.ts";
import type { Plan, PlannedWorkspace } from "../plan.ts";
import type { World } from "../world/world.ts";

export function blockChanceOf(seed: number): Chance {
  return new Chance(seed ^ 0x3c6ef372);
}

/** One of four runs has them. */
export function hasBlocks(seed: number): boolean {
  return seed % 4 === 1;
}

/** @param unit the highest reservation */
export function withBlocks(plan: Plan, { unit, chance }: { unit: bigint; chance: Chance }): Plan {
  // Some runs use up the window of a key in less than a minute, and nothing else.
  const isHot = chance.happens(0.15);
  const busyMs = chance.between(8_000, 45_000);
  const requests = isHot ? chance.between(600, 800) : chance.between(100, 250);
  const workspaces = plan.workspaces
    .slice(0, isHot ? 1 : 2)
    .map((workspace) => richWorkspace(workspace, { unit, chance, isHot }));
  return { ...plan, workspaces, busyMs, gapMs: busyMs / requests, hasBlocks: true };
}

function richWorkspace(
  { keys, ...workspace }: PlannedWorkspace,
  { unit, chance, isHot }: { unit: bigint; chance: Chance; isHot: boolean },
): PlannedWorkspace {
  const some = (least: number, most: number): bigint => unit * BigInt(chance.between(least, most));
  const workspaceLimit = !isHot && chance.happens(0.4) ? some(60, 300) : null;
  return {
    ...workspace,
    credit: isHot ? some(1_500, 2_500) : some(60, 300),
    budgets: { workspaceDay: null, keyDays: [], memberMonth: null },
    own: chance.happens(0.8) ? { providers: [], fallback: false } : workspace.own,
    keys: keys.slice(0, isHot ? 1 : keys.length).map(({ hash, record }) => ({
      hash,
      record: {
        ...record,
        workspaceLimit,
        monthlyLimit: !isHot && chance.happens(0.5) ? some(60, 200) : null,
        requestsPerMinute: isHot ? 600 : chance.pick([60, 600, 700, 1_000, 10_000]),
      },
    })),
  };
}

/** Limits are lowered while blocks are lent that were made under higher ones, and raised again. */
export function planLimitsUnderBlocks(world: World, unit: bigint): void {
  const { blockChance: chance, busyMs, workspaces } = world.plan;
  const changes: Record<string, () => void> = {
    "a rate is lowered under blocks": () =>
      world.changeKey(world.someKey(), { requestsPerMinute: chance.pick([1, 30, 200, 599]) }),
    "a rate is raised again": () => world.changeKey(world.someKey(), { requestsPerMinute: chance.pick([600, 1_000]) }),
    "a key's limit is lowered under blocks": () =>
      world.changeKey(world.someKey(), { monthlyLimit: unit * BigInt(chance.between(1, 70)) }),
    "a workspace's limit is lowered under blocks": () =>
      world.changeWorkspace(chance.pick(workspaces), unit * BigInt(chance.between(1, 70))),
  };
  for (const [name, change] of Object.entries(changes)) {
    if (chance.happens(0.6)) continue;
    world.scheduler.plan(chance.next() * busyMs * 0.6, null, () => world.injectFault(name, change));
  }
}
