/**
 * Runs in which the database goes back in time, as a standby that lacks the last commits or an older backup. They draw from random numbers
 * of their own, so that they change nothing in runs without them.
 */
import { Chance } from "../chance.ts";
import type { World } from "../world/world.ts";

/** One of four runs. None has top-ups, whose database does not go back. */
export function hasRestores(seed: number): boolean {
  return seed % 4 === 1;
}

export function restoreChanceOf(seed: number): Chance {
  return new Chance(seed ^ 0x7f4a7c15);
}

export function planRestores(world: World, chance: Chance): void {
  const { scheduler, plan } = world;
  for (let times = chance.between(1, 3); times > 0; times--) {
    const times = { backMs: chance.pick([5, 300, 3_000, 20_000]), downMs: chance.pick([1_200, 4_000, 15_000, 40_000]) };
    scheduler.plan(chance.next() * plan.busyMs, null, () => goBack(world, times));
  }
  for (let restarts = chance.between(0, 2); restarts > 0; restarts--) {
    const downMs = chance.between(50, 3_000);
    scheduler.plan(chance.next() * plan.busyMs, null, () => goBack(world, { backMs: 0, downMs }));
  }
}

/** Takes the database down after a while, and brings it back as it is now. */
function goBack(world: World, { backMs, downMs }: { backMs: number; downMs: number }): void {
  const { scheduler, ledger } = world;
  const restore = ledger.remember();
  scheduler.plan(backMs, null, () => {
    if (ledger.server.isDead) return;
    const mayRestore = (): boolean => ledger.server.isDead && !world.hasUnspooledEnds;
    world.injectFault(backMs === 0 ? "the database restarts" : "the database goes back in time", () => {
      world.close("the database is down", { server: "ledger", ms: downMs });
      scheduler.plan(downMs - 1, null, () => void (mayRestore() && restore()));
    });
  });
}
