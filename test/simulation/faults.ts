/** The faults of a run. Each run has only some kinds, so that one kind does not hide the effects of another. */
import { planLimitsUnderBlocks } from "./variants/blocks.ts";
import { planBudgetChanges } from "./variants/budgets.ts";
import type { Chance } from "./chance.ts";
import { planFailOvers } from "./variants/fail-overs.ts";
import { amountMax } from "./plan.ts";
import { planRestores } from "./variants/restores.ts";
import { planTopUps } from "./top-ups/plan-top-ups.ts";
import type { World } from "./world/world.ts";

type Fault = (world: World, chance: Chance) => void;

const downMs = (chance: Chance): number => chance.pick([0, 50, 800, 4_000, 15_000]);
const freezeMs = (chance: Chance): number => chance.pick([200, 1_000, 5_000, 30_000]);

/** The faults by name. How often each comes in a run is random. */
export const faults: Readonly<Record<string, Fault>> = {
  "a gateway is killed": (world, chance) => world.killGateway(downMs(chance)),
  "a gateway is lost with its disk": (world, chance) => world.loseGateway(downMs(chance)),
  "a worker is killed": (world, chance) => world.fleet.crash(chance.pick(world.fleet.of("admission")), downMs(chance)),
  "metering is killed": (world, chance) => world.fleet.crash(chance.pick(world.fleet.of("metering")), downMs(chance)),
  "a gateway is frozen": (world, chance) => world.disturbGateway(({ host }) => world.freeze(host, freezeMs(chance))),
  "a worker is frozen": (world, chance) => world.freeze(chance.pick(world.fleet.of("admission")).host, freezeMs(chance)),
  "metering is frozen": (world, chance) => world.freeze(chance.pick(world.fleet.of("metering")).host, freezeMs(chance)),
  "a gateway loses the bus": (world, chance) =>
    world.disturbGateway(({ host }) => world.disconnect(host, chance.between(100, 30_000))),
  "a worker loses the bus": (world, chance) =>
    world.disconnect(
      chance.pick([...world.fleet.of("admission"), ...world.fleet.of("metering")]).host,
      chance.between(100, 20_000),
    ),
  "all workers are killed": (world, chance) => world.killWorkers(chance.between(500, 8_000)),
  "the counters are down": (world, chance) =>
    world.close("the counters are down", { server: "counters", ms: chance.between(200, 12_000) }),
  "the counters are frozen": (world, chance) => world.freezeCounters(chance.between(200, 15_000)),
  "the counters are emptied": (world) => world.loseCounters((counters) => counters.wipe()),
  "the counters restart": (world) => world.loseCounters((counters) => counters.restart()),
  "the counters are rolled back": (world, chance) => void world.rollBack(chance.between(10, 2_000)),
  "the counters' clock is set": (world, chance) => world.step(chance.pick([-90_000, -2_000, -1, 1, 2_000, 90_000, 1_300_000])),
  "a process's time of day is wrong": (world, chance) =>
    void (chance.pick(world.fleet.slots).host.clock.skewMs = chance.between(-90_000, 90_000)),
  "a gateway is disconnected for longer than its holds last": (world) => world.outlive(),
  "the database is down": (world, chance) =>
    world.close("the database is down", { server: "ledger", ms: chance.between(200, 45_000) }),
  "the newest events are lost": (world, chance) => world.loseEvents(chance.between(100, 5_000)),
  "the disk is full": (world, chance) => world.fillDisk(chance.between(0, 200), chance.between(100, 6_000)),
  "credit is added": (world, chance) =>
    world.addCredit(chance.pick(world.plan.workspaces).id, amountMax * BigInt(chance.between(1, 4))),
  "a key is revoked": (world) => world.revoke(world.someKey()),
  "a rate is changed": (world, chance) => world.changeKey(world.someKey(), { requestsPerMinute: chance.pick([1, 2, 4, 60]) }),
  "a key's limit is changed": (world, chance) =>
    world.changeKey(world.someKey(), { monthlyLimit: chance.happens(0.2) ? null : amountMax * BigInt(chance.between(1, 8)) }),
  "a workspace's limit is changed": (world, chance) =>
    world.changeWorkspace(
      chance.pick(world.plan.workspaces),
      chance.happens(0.2) ? null : amountMax * BigInt(chance.between(1, 12)),
    ),
};

/** The further ones of runs with own provider keys. */
const mixedFaults: typeof faults = {
  "own keys are changed": (world, chance) => world.changeOwnKeys(chance.pick(world.plan.workspaces)),
  "a process dies between two payers": killAtOtherPayers,
  "the secrets are lost": (world, chance) => loseSecrets(world, chance.between(500, 20_000)),
};

/** From now on something often dies while a generation continues with a different key. */
function killAtOtherPayers(world: World, chance: Chance): void {
  const { fleet, scheduler } = world;
  world.onOtherPayer = (host) => {
    if (chance.happens(0.5)) return;
    const slot = fleet.slots.find((one) => one.host === host);
    const isGateway = chance.happens(0.7);
    scheduler.plan(chance.between(0, 1_500), null, () => {
      if (!isGateway) fleet.crash(chance.pick(fleet.slots.filter(({ gateway }) => gateway === null)), 800);
      else if (slot?.host === host) world.killGateway(800, slot);
    });
  };
}

/** Kills a gateway, and for a while no process that starts can open own keys. */
function loseSecrets(world: World, ms: number): void {
  world.secrets.areLost = true;
  world.killGateway(0);
  world.scheduler.plan(ms, null, () => void (world.secrets.areLost = false));
}

/** Gateways die, and the counters are lost before their successors start. */
function planDeaths(world: World, chance: Chance): void {
  for (let times = chance.between(1, 4); times > 0; times--) {
    const slot = chance.pick(world.fleet.of("gateway"));
    const downMs = chance.pick([300, 1_500, 2_400]);
    const lostMs = chance.between(0, downMs);
    world.scheduler.plan(chance.next() * world.plan.busyMs, null, () => {
      world.injectFault("a gateway dies while the counters are emptied", () => world.loseBoth(slot, { downMs, lostMs }));
    });
  }
}

/** Changes through the control API are not faults. They come in the first half of every run, so that their effects can be checked. */
const everyday = /^(credit|a key|a rate|a workspace|own keys)/;

/** Plans when each fault comes. */
export function planFaults(world: World, chance: Chance): void {
  const share = chance.pick([0.1, 0.25, 0.5]);
  const possible = world.plan.isMixed ? { ...faults, ...mixedFaults } : faults;
  for (const [name, fault] of Object.entries(possible)) {
    const isEveryday = everyday.test(name);
    if (!chance.happens(isEveryday ? 0.4 : share)) continue;
    for (let times = chance.between(1, 4); times > 0; times--) {
      const inMs = chance.next() * world.plan.busyMs * (isEveryday ? 0.5 : 1);
      world.scheduler.plan(inMs, null, () => world.injectFault(name, () => fault(world, chance)));
    }
  }
  if (world.plan.hasBudgets) planBudgetChanges(world, amountMax);
  if (world.plan.hasBlocks) planLimitsUnderBlocks(world, amountMax);
  if (world.plan.hasFailOvers) planFailOvers(world);
  if (world.plan.restoreChance) planRestores(world, world.plan.restoreChance);
  if (world.plan.deathChance) planDeaths(world, world.plan.deathChance);
  if (world.fleet.topUps) planTopUps(world, world.fleet.topUps);
}
