/** Measures the hot path: requests a second, their cost, and the latency added to the provider's. */
import { single, type Installation } from "../contenders/installation.ts";
import { findPeers, type Peers } from "../contenders/peers.ts";
import { bareProxy, direct } from "../contenders/provider.ts";
import type { Measurement } from "../measure/measure.ts";
import { pause } from "../until.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";
import { idleCores, residentBytes, startAll, warmUp, type Side, type RunningInstallation } from "./side-by-side.ts";
import { sweepsPerRound, takeLoad, takeSweep, type Load } from "./sweep.ts";

export interface HotPathPlan extends TestbedPlan {
  rounds: number;
  /** The measured time of each slice. */
  seconds: number;
}

/** Resident bytes of all processes of an installation: after the start, the most after a load, and some time after the last load. */
export interface RoundMemory {
  name: string;
  round: number;
  idleBytes: number;
  loadedBytes: number;
  recoveredBytes: number;
}

export interface HotPath extends Pick<Peers, "versions" | "leftOut"> {
  /** One for every slice, and one without a sweep for the open loop at the end of each round. */
  measurements: Measurement[];
  memory: RoundMemory[];
  /** The CPU use of idle contenders, which run during the measurement of others: CPU seconds a second, by process. Measured once a run. */
  idle: { name: string; cores: Record<string, number> }[];
}

/** The ceiling is the best of these. One connection shows the added latency. */
export const ceilingConnections = [8, 32, 128];
/** Far below the ceiling of all contenders except LiteLLM, so that no queue adds latency. */
export const openLoopRate = 200;
/** Not sliced, since the tail of a distribution needs samples, and no ratio uses it. */
const openLoop = ["--rate", String(openLoopRate), "--warm-up", "1", "--seconds", "3"];
const restMs = 2_000;

/** One connection comes last, since a worker's code for a message is compiled only after some thousand messages. */
const sliceLoads = [...ceilingConnections, 1].map((connections) => {
  return { load: `${connections} connections`, words: ["--connections", String(connections)] };
});

export async function runHotPath(plan: HotPathPlan): Promise<HotPath> {
  await using testbed = await openTestbed(plan);
  const { provider } = testbed;
  const { contenders, versions, leftOut } = await findPeers(testbed, plan.say);
  const others = [direct(provider), bareProxy(provider), ...contenders];
  const installations = [...others.map(single), testbed.sharedWeir(["hot", "spread"])];
  const found: HotPath = { measurements: [], memory: [], idle: [], versions, leftOut };
  for (let round = 1; round <= plan.rounds; round++) await takeRound({ installations, testbed, round, plan, found });
  return found;
}

interface Round {
  installations: Installation[];
  testbed: Testbed;
  round: number;
  plan: HotPathPlan;
  found: HotPath;
}

async function takeRound(round: Round): Promise<void> {
  const { installations, testbed, plan, found } = round;
  await using stack = new AsyncDisposableStack();
  const started = await startAll(installations, stack);
  plan.say(`round ${round.round}/${plan.rounds} warming up ${started.map(({ name }) => name).join(", ")}`);
  for (const side of started.flatMap(({ sides }) => sides)) await warmUp(side);
  await testbed.quiet();
  if (round.round === 1) found.idle = await idleCores(started);
  const loaded = new Map<string, number>();
  const take = async (installation: RunningInstallation, side: Side, load: Load): Promise<void> => {
    found.measurements.push(await takeLoad(side, load, { ...plan, provider: testbed.provider, round: round.round }));
    loaded.set(installation.name, Math.max(loaded.get(installation.name) ?? 0, residentBytes(installation.installed)));
  };
  for (let n = 1; n <= sweepsPerRound; n++) {
    await takeSweep({ started, sweep: (round.round - 1) * sweepsPerRound + n, seconds: plan.seconds, loads: sliceLoads, take });
    // Only once a sweep: after each checkpoint PostgreSQL writes every page completely at its first change.
    await testbed.quiet();
  }
  for (const installation of started) {
    for (const side of installation.sides) await take(installation, side, { load: `${openLoopRate}/s`, words: openLoop });
  }
  await pause(restMs);
  for (const { name, installed, idleBytes } of started) {
    const loadedBytes = loaded.get(name) ?? 0;
    found.memory.push({ name, round: round.round, idleBytes, loadedBytes, recoveredBytes: residentBytes(installed) });
  }
  if (round.round === plan.rounds) for (const { installed } of started) await installed.verify?.(plan.say);
}
