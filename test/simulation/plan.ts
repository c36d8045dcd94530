/** Plans a run from its seed: workspaces and keys with limits so small that requests compete for everything. */
import type { KeyRecord } from "../../src/accounts/keys/record.ts";
import { hashOf, keyRecord } from "../support/gateway/key-records.ts";
import { agentsOf, type Agents } from "./variants/agents.ts";
import { blockChanceOf, hasBlocks, withBlocks } from "./variants/blocks.ts";
import { budgetChanceOf, hasBudgets, noBudgets, someBudgets, type PlannedBudgets } from "./variants/budgets.ts";
import { Chance } from "./chance.ts";
import { failOverChanceOf, hasFailOvers } from "./variants/fail-overs.ts";
import { repeatsOf, type Repeats } from "./variants/repeats.ts";
import { hasRestores, restoreChanceOf } from "./variants/restores.ts";
import { timeoutsOf, type Timeouts } from "./variants/timeouts.ts";
import { hasTopUps, topUpChanceOf } from "./top-ups/plan.ts";

/** The highest reservation of the workload, in nano-USD; see `someRequest`. */
export const amountMax = 412_000n;

/** The size of the key cache: more keys than a run has. */
export const recordsMax = 64;

export interface PlannedKey {
  hash: string;
  record: KeyRecord;
}

export interface PlannedWorkspace {
  id: string;
  credit: bigint;
  keys: PlannedKey[];
  budgets: PlannedBudgets;
  /** The providers that it has an own key for, and whether its calls may continue at others. */
  own: { providers: string[]; fallback: boolean };
}

export interface Plan {
  startMs: number;
  workspaces: PlannedWorkspace[];
  /** A key with more credit than it needs. It shows whether requests can be served at all. */
  witness: PlannedKey;
  /** The length of the part with faults, in milliseconds of true time. */
  busyMs: number;
  gapMs: number;
  /** Two of three runs also have embeddings and own provider keys. The third has chat alone, which these would make rarer. */
  isMixed: boolean;
  /** What budgets draw. */
  budgetChance: Chance;
  hasBudgets: boolean;
  /** What blocks draw. */
  blockChance: Chance;
  hasBlocks: boolean;
  /** What fail-overs draw. */
  failOverChance: Chance;
  hasFailOvers: boolean;
  /** What top-ups draw. */
  topUps: { isOn: boolean; chance: Chance };
  /** null: every provider answers or fails in time. */
  timeouts: Timeouts | null;
  /** null: no client speaks Messages or Responses. */
  agents: Agents | null;
  /** null: no client sends an idempotency key. */
  repeats: Repeats | null;
  /** What restores draw; null: the run has none. */
  restoreChance: Chance | null;
  /** What deaths draw that come with the loss of the counters; null: the run has none. */
  deathChance: Chance | null;
}

export function makePlan(seed: number, chance: Chance): Plan {
  const plan = plainPlan(seed, chance);
  return hasBlocks(seed) ? withBlocks(plan, { unit: amountMax, chance: plan.blockChance }) : plan;
}

function plainPlan(seed: number, chance: Chance): Plan {
  const isLong = chance.happens(0.02);
  const busyMs = isLong ? chance.between(1_250_000, 1_500_000) : chance.between(8_000, 75_000);
  const isMixed = seed % 3 !== 0;
  const budgetChance = budgetChanceOf(seed);
  return {
    startMs: startOf(chance),
    isMixed,
    budgetChance,
    hasBudgets: hasBudgets(seed) && !hasBlocks(seed),
    blockChance: blockChanceOf(seed),
    hasBlocks: false,
    failOverChance: failOverChanceOf(seed),
    hasFailOvers: hasFailOvers(seed),
    topUps: { isOn: hasTopUps(seed), chance: topUpChanceOf(seed) },
    timeouts: timeoutsOf(seed),
    agents: agentsOf(seed),
    repeats: repeatsOf(seed),
    restoreChance: hasRestores(seed) ? restoreChanceOf(seed) : null,
    deathChance: deathChanceOf(seed),
    workspaces: [1, 2].map((number) => {
      const workspace = someWorkspace(`ws-${seed}-${number}`, chance);
      const keys = workspace.keys.length;
      const budgets = hasBudgets(seed) ? someBudgets({ keys, unit: amountMax }, budgetChance) : noBudgets;
      return { ...workspace, budgets, own: isMixed ? someOwnKeys(chance) : noOwnKeys };
    }),
    witness: keyOf({ id: `key-${seed}-w`, workspace: `ws-${seed}-w`, requestsPerMinute: 10_000 }),
    busyMs,
    gapMs: busyMs / chance.between(30, 120),
  };
}

/** One of five runs. They draw from random numbers of their own, so that they change nothing in runs without them. */
function deathChanceOf(seed: number): Chance | null {
  return seed % 5 === 0 ? new Chance(seed ^ 0x3c6ef372) : null;
}

/** Some runs pass the end of a month. */
function startOf(chance: Chance): number {
  const monthEndMs = Date.UTC(2026, 11, 1);
  return chance.happens(0.3) ? monthEndMs - chance.between(0, 60_000) : Date.UTC(2026, 10, 20, 12);
}

const noOwnKeys = { providers: [], fallback: false };

export function someOwnKeys(chance: Chance): PlannedWorkspace["own"] {
  return { providers: ["acme", "beta"].filter(() => chance.happens(0.5)), fallback: chance.happens(0.5) };
}

function someWorkspace(id: string, chance: Chance): Omit<PlannedWorkspace, "own" | "budgets"> {
  const workspaceLimit = chance.happens(0.4) ? amountMax * BigInt(chance.between(2, 8)) : null;
  const keys = Array.from({ length: chance.between(1, 3) }, (_, number) =>
    keyOf({
      id: id.replace("ws", "key") + `-${number}`,
      workspace: id,
      workspaceLimit,
      monthlyLimit: chance.happens(0.5) ? amountMax * BigInt(chance.between(1, 5)) : null,
      requestsPerMinute: chance.pick([2, 5, 12, 60]),
    }),
  );
  return { id, credit: (amountMax * BigInt(chance.between(2, 24))) / 2n, keys };
}

export function keyOf(fields: Partial<KeyRecord> & Pick<KeyRecord, "id">): PlannedKey {
  return { hash: hashOf(fields.id), record: keyRecord({ earlyAccess: ["routing", "embeddings"], ...fields }) };
}
