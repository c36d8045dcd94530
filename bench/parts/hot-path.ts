/** The hot path: how many requests a second, at what cost, and how much later than the provider alone. */
import type { Contender, Running } from "../contenders/contender.ts";
import { findPeers, type Peers } from "../contenders/peers.ts";
import { bareProxy, direct, instantModel, type Provider } from "../contenders/provider.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, saidOf, type Measurement } from "../measure/measure.ts";
import { pause } from "../until.ts";
import { openSetting, type SettingPlan } from "./setting.ts";

export interface HotPathPlan extends SettingPlan {
  rounds: number;
  seconds: number;
}

/** Resident bytes of all of a contender's own processes: started, under its last load, and a while after it. */
export interface TurnMemory {
  contender: string;
  round: number;
  idleBytes: number;
  loadedBytes: number;
  recoveredBytes: number;
}

export interface HotPath extends Pick<Peers, "versions" | "leftOut"> {
  measurements: Measurement[];
  memory: TurnMemory[];
  /** By contender: seconds from the last answer of each turn until the ledger had confirmed everything. */
  lagSeconds: Record<string, number[]>;
}

/** The ceiling is the best of these; one in flight tells the added latency. */
export const ceilingConnections = [8, 32, 128];
/** Far below everybody's ceiling but LiteLLM's, so that latency is the way's and not a queue's. */
export const openLoopRate = 200;
const warmUpSeconds = 1;
const wakeConnections = 64;
const restMs = 2_000;

/** One in flight comes after the others: what a worker runs through for each message is compiled after some thousands of them. */
const loads = [
  ...[...ceilingConnections, 1].map((count) => ({ load: `${count} connections`, words: ["--connections", String(count)] })),
  { load: `${openLoopRate}/s`, words: ["--rate", String(openLoopRate)] },
];

export async function runHotPath(plan: HotPathPlan): Promise<HotPath> {
  await using setting = await openSetting(plan);
  const { provider } = setting;
  const peers = await findPeers(setting, plan.say);
  const own = [setting.weir("hot"), setting.weir("spread")];
  const contenders = [direct(provider), bareProxy(provider), ...peers.contenders, ...own];
  const { versions, leftOut } = peers;
  const found: HotPath = { measurements: [], memory: [], lagSeconds: {}, versions, leftOut };
  for (let round = 1; round <= plan.rounds; round++) {
    // Every second round goes backwards, so that nobody always comes after the same one.
    for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
      await takeTurn({ contender, provider, round, plan, found });
      await setting.quiet();
    }
  }
  return found;
}

interface Turn {
  contender: Contender;
  provider: Provider;
  round: number;
  plan: HotPathPlan;
  found: HotPath;
}

async function takeTurn(turn: Turn): Promise<void> {
  const { contender, round, plan, found } = turn;
  const { name } = contender;
  await using running = await contender.start();
  const idleBytes = residentBytes(running);
  const { lastEndedAt, loadedBytes } = await measureAll(turn, running);
  const settledAt = await running.settled?.();
  if (settledAt !== undefined) (found.lagSeconds[name] ??= []).push((settledAt - lastEndedAt) / 1_000);
  await pause(restMs);
  found.memory.push({ contender: name, round, idleBytes, loadedBytes, recoveredBytes: residentBytes(running) });
  if (round === plan.rounds) await running.verify?.(plan.say);
}

async function measureAll({ contender, provider, round, plan, found }: Turn, running: Running) {
  const model = ["--model", contender.model(instantModel)];
  const always = [...model, "--warm-up", String(warmUpSeconds), "--seconds", String(plan.seconds)];
  const waking = [...model, "--warm-up", "0", "--seconds", String(contender.wakeSeconds)];
  await runLoadProcess([...running.target, ...waking, "--connections", String(wakeConnections)]);
  let lastEndedAt = Number.NaN;
  let loadedBytes = 0;
  for (const { load, words } of loads) {
    const measured = await measure({ contender: contender.name, running, provider, load, words: [...always, ...words], round });
    found.measurements.push(measured);
    lastEndedAt = measured.result.lastEndedAt;
    loadedBytes = Math.max(loadedBytes, residentBytes(running));
    plan.say(`round ${round}/${plan.rounds} ${saidOf(measured)}`);
  }
  return { lastEndedAt, loadedBytes };
}

function residentBytes(running: Running): number {
  return Object.values(running.usage()).reduce((sum, { residentBytes }) => sum + residentBytes, 0);
}
