/**
 * Part of the counters' store dies, and its replica takes over without the last writes: to the counters a workspace is such a part. It draws
 * from random numbers of its own, so that it changes nothing in runs without it.
 */
import { Chance } from "../chance.ts";
import type { World } from "../world/world.ts";

/** How many writes the replica lacks, in milliseconds. */
const lostMs = (chance: Chance): number => chance.pick([1, 20, 200, 2_000]);
const downMs = (chance: Chance): number => chance.between(500, 6_000);

export function failOverChanceOf(seed: number): Chance {
  return new Chance(seed ^ 0x2545f491);
}

/** Two of seven runs have them. */
export function hasFailOvers(seed: number): boolean {
  return seed % 7 < 2;
}

export function planFailOvers(world: World): void {
  const { failOverChance: chance, workspaces, busyMs } = world.plan;
  for (let times = chance.between(1, 4); times > 0; times--) {
    const { id } = chance.pick(workspaces);
    const [lost, down] = [lostMs(chance), downMs(chance)];
    world.scheduler.plan(chance.next() * busyMs, null, () =>
      world.injectFault("a replica takes over without the last writes", () => failOver(world, { id, lost, down })),
    );
  }
}

function failOver(world: World, { id, lost, down }: { id: string; lost: number; down: number }): void {
  if (!world.rollBack(lost + down, (counters) => counters.replicaOf(id))) return;
  world.scheduler.plan(lost, null, () =>
    world.injectFault("a part of the counters is down", () => void world.counters.down.add(id)),
  );
}
