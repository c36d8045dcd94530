/** Runs one seed and returns the evidence for the checkers. */
import { randomFillSync } from "node:crypto";
import type { BudgetTotal } from "../../src/backing/counters.ts";
import { drawIdsFrom } from "../../src/kernel/ids.ts";
import type { Evidence, Settled } from "../invariants/evidence.ts";
import { Chance } from "./chance.ts";
import { promptRequest, someRequest } from "./clients.ts";
import { planFaults } from "./faults.ts";
import type { TopUps } from "./top-ups/top-ups.ts";
import { connectMsMax } from "./variants/timeouts.ts";
import { World } from "./world/world.ts";

/** By then every answer has ended and is charged, and lost admissions are released. In milliseconds. */
const givenUpMs = 420_000;

/** No process is frozen or slow for longer than this, in milliseconds. */
const quietMsMax = 3_600_000;

export interface Run {
  seed: number;
  world: World;
  evidence: Evidence;
}

/** Equal seeds give equal runs. @throws errors of the simulation or of the code, in contrast to violations of an invariant */
export function runSeed(seed: number): Run {
  const chance = new Chance(seed);
  drawIdsFrom((chances) => {
    for (let place = 0; place < chances.length; place++) chances[place] = chance.below(65_536);
  });
  try {
    const world = new World(seed, chance);
    runWorld(world);
    return { seed, world, evidence: evidenceOf(world) };
  } finally {
    drawIdsFrom(randomFillSync);
  }
}

function runWorld(world: World): void {
  planFaults(world, world.chance);
  generateLoad(world);
  world.heal();
  probeUntilHealthy(world);
  probeRetryAfter(world);
  drain(world);
}

function generateLoad(world: World): void {
  const { plan, chance, scheduler } = world;
  const next = (): void => {
    if (scheduler.now >= plan.busyMs) return;
    for (let burst = chance.happens(0.2) ? chance.between(2, 6) : 1; burst > 0; burst--) world.sendOne();
    scheduler.plan(chance.next() * 2 * plan.gapMs, null, next);
  };
  next();
  scheduler.advance(plan.busyMs);
}

/** Sends five requests a second with the witness's key, for longer than recovery may take. */
function probeUntilHealthy(world: World): void {
  const { chance, scheduler, fleet, plan } = world;
  for (let times = 0; times < 35; times++) {
    world.clients.send({ key: plan.witness, gateway: chance.pick(fleet.gateways), request: promptRequest(chance) });
    scheduler.advance(200);
  }
}

/** Uses up the rate of a key without other users, and then sends requests too early and in time. */
function probeRetryAfter(world: World): void {
  const { scheduler, chance, fleet, clients } = world;
  const key = world.addProbedKey();
  const send = (probe?: { of: string; afterMs: number }) => {
    const gateway = chance.pick(fleet.gateways);
    const sent = clients.send({ key, gateway, request: someRequest(chance), ...(probe && { probe }) });
    let dueAt = 0;
    void sent.seen.then(({ retryAfterMs = 0 }) => (dueAt = scheduler.now + retryAfterMs));
    scheduler.advance(1_500);
    return { invocation: sent.invocation, dueAt };
  };
  for (let times = 0; times < (key.record.requestsPerMinute ?? 0); times++) send();
  const { invocation, dueAt } = send();
  if (dueAt < scheduler.now + 10_000) return;
  scheduler.advance(dueAt - 2_000 - scheduler.now);
  send({ of: invocation, afterMs: -2_000 });
  scheduler.advance(dueAt - scheduler.now);
  send({ of: invocation, afterMs: 0 });
}

/** Runs until all work has ended and the counters got the ledger's state once more. */
function drain(world: World): void {
  const { scheduler, recorder, counters, fleet } = world;
  if (fleet.topUps) endTopUps(world, fleet.topUps);
  if (world.plan.restoreChance) useEveryWorkspace(world);
  scheduler.advance(givenUpMs);
  const held = world.mayLeak ? {} : { held: counters.holds };
  const end = scheduler.now + quietMsMax + Math.max(0, -world.counters.steppedMs);
  while (!isQuiet(world) && scheduler.now < end) scheduler.advance(1_000);
  scheduler.advance(62_000);
  fleet.topUps?.noteKept();
  recorder.note({ kind: "quiet", ...remainingWork(world), ...held });
}

/** What the counters know of a workspace is compared with its ledger when it is used. */
function useEveryWorkspace({ fleet, ledger, scheduler }: World): void {
  for (let times = 0; times < 2; times++) {
    for (const workspace of ledger.ledger.accounts.keys()) fleet.gateways[0]?.refresh(workspace);
    scheduler.advance(30_000);
  }
}

/** Processes that start look up payments at once, in place of after minutes. */
function endTopUps({ fleet, scheduler }: World, topUps: TopUps): void {
  for (const slot of fleet.of("metering")) fleet.crash(slot, 0);
  scheduler.advance(30_000);
  topUps.rest();
}

function isQuiet(world: World): boolean {
  const { unsettled, backlog, unknownAdmissions } = remainingWork(world);
  return (
    unsettled + backlog + unknownAdmissions + world.counters.holds === 0 &&
    !world.fleet.hasOrphans &&
    world.clients.waiting === 0 &&
    (world.fleet.topUps?.unfinished ?? 0) === 0
  );
}

function remainingWork({ fleet, network }: World): { unsettled: number; backlog: number; unknownAdmissions: number } {
  const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);
  const { gateways } = fleet;
  return {
    unsettled: sum(gateways.map(({ unsettled }) => unsettled)),
    backlog: network.events.size,
    unknownAdmissions: sum(gateways.map(({ unknownAdmissions }) => unknownAdmissions)),
  };
}

function evidenceOf(world: World): Evidence {
  // A request may wait for a connection twice.
  const connectingMs = world.plan.timeouts === null ? 0 : 2 * connectMsMax;
  const delayMsMax = 5_000 + 2 * world.frozenMsMax + connectingMs;
  return { history: world.recorder.history, delayMsMax, stored: null, settled: settledOf(world), secrets: null };
}

function settledOf({ counters, ledger: { ledger } }: World): Settled[] {
  return [...ledger.accounts.keys()].map((workspace) => {
    const months = totalsOf(ledger.workspaceMonths, workspace).map(({ month, total: spent }) => ({ month, spent }));
    const { balance, sequence } = ledger.head(workspace, "");
    const keyMonths = totalsOf(ledger.keyMonths, workspace.replace("ws", "key"));
    return {
      workspace,
      counters: counters.dump(workspace),
      account: { workspace, balance, sequence, months },
      budgets: budgetsOf(ledger.budgetTotals, workspace),
      keyMonths: keyMonths.map(({ name: key, month, total }) => ({ workspace, key, month, sequence, ...total })),
    };
  });
}

function budgetsOf(totals: Map<string, bigint>, of: string): BudgetTotal[] {
  return [...totals].flatMap(([key, spent]) => {
    const [workspace = "", name = "", since] = key.split(" ");
    return workspace === of ? [{ name, since: Number(since), spent }] : [];
  });
}

/** Totals whose name begins with the prefix. The ids of keys begin like that of their workspace. */
function totalsOf<T>(totals: Map<string, T>, prefix: string): { name: string; month: string; total: T }[] {
  return [...totals].flatMap(([nameAndMonth, total]) => {
    const [name = "", month = ""] = nameAndMonth.split(" ");
    return name === prefix || name.startsWith(`${prefix}-`) ? [{ name, month, total }] : [];
  });
}
