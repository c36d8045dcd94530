/** Measures the hot path: requests a second, their cost, and the latency added to the provider's. */
import { single, type Installation } from "../contenders/installation.ts";
import { findPeers, type Peers } from "../contenders/peers.ts";
import { bareProxy, direct, instantModel } from "../contenders/provider.ts";
import { measure, progressLine, type MeasurePlan, type Measurement } from "../measure/measure.ts";
import { pause } from "../until.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";
import { idleCores, residentBytes, startAll, warmUp, type Side, type RunningInstallation } from "./side-by-side.ts";

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

/** Disturbances of the machine last for seconds, so that more slices are better than longer ones. */
export const sliceSeconds = 0.8;
/** The ceiling is the best of these. One connection shows the added latency. */
export const ceilingConnections = [8, 32, 128];
/** Far below the ceiling of all contenders except LiteLLM, so that no queue adds latency. */
export const openLoopRate = 200;
/** An odd number, so that the median of three ignores a disturbed sweep. */
const sweepsPerRound = 3;
/**
 * Longer than the lag of the ledger (0.1 to 0.6 s). Weir then settles as much earlier work within the measured time as it defers
 * beyond it, so that each slice includes the full work.
 */
const sliceWarmUpSeconds = 0.8;
/** Not sliced, since the tail of a distribution needs samples, and no ratio uses it. */
const openLoop = ["--rate", String(openLoopRate), "--warm-up", "1", "--seconds", "3"];
const restMs = 2_000;

/** One connection comes last, since a worker's code for a message is compiled only after some thousand messages. */
const sliceConnections = [...ceilingConnections, 1];

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
    await takeLoad(side, load, round);
    loaded.set(installation.name, Math.max(loaded.get(installation.name) ?? 0, residentBytes(installation.installed)));
  };
  for (let n = 1; n <= sweepsPerRound; n++) {
    await takeSweep({ started, sweep: (round.round - 1) * sweepsPerRound + n, seconds: plan.seconds, take });
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

type Load = Pick<MeasurePlan, "load" | "words" | "sweep">;

interface Sweep {
  started: RunningInstallation[];
  /** The number of the sweep, counted over all rounds. */
  sweep: number;
  seconds: number;
  take(installation: RunningInstallation, side: Side, load: Load): Promise<void>;
}

/** Measures all contenders directly after each other under each load, so that the figures of a ratio come from the same seconds. */
async function takeSweep({ started, sweep, seconds, take }: Sweep): Promise<void> {
  const pairs = started.flatMap((installation) => installation.sides.map((side) => ({ installation, side })));
  // Every second sweep has the reverse order, so that no contender always follows the same one.
  const order = sweep % 2 === 1 ? pairs : pairs.toReversed();
  const time = ["--warm-up", String(sliceWarmUpSeconds), "--seconds", String(seconds)];
  for (const connections of sliceConnections) {
    const words = [...time, "--connections", String(connections)];
    for (const { installation, side } of order)
      await take(installation, side, { load: `${connections} connections`, words, sweep });
  }
}

/** Waits for the work that the load leaves, before the next contender is measured. */
async function takeLoad({ subject, running, generator }: Side, { load, words, sweep }: Load, round: Round): Promise<void> {
  const { testbed, plan, found } = round;
  const loadArguments = ["--model", subject.model(instantModel), ...words];
  const at = { contender: subject.name, running, provider: testbed.provider, round: round.round };
  const when = sweep === undefined ? {} : { sweep };
  const measured = await measure({ ...at, ...when, load, words: loadArguments, generator, untilSettled: true });
  found.measurements.push(measured);
  const place = sweep === undefined ? "" : `, sweep ${sweep}/${plan.rounds * sweepsPerRound}`;
  plan.say(`round ${round.round}/${plan.rounds}${place} ${progressLine(measured)}`);
}
