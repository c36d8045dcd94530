/** The hot path: how many requests a second, at what cost, and how much later than the provider alone. */
import { alone, type Installation } from "../contenders/installation.ts";
import { findPeers, type Peers } from "../contenders/peers.ts";
import { bareProxy, direct, instantModel } from "../contenders/provider.ts";
import { measure, progressLine, type MeasurePlan, type Measurement } from "../measure/measure.ts";
import { pause } from "../until.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";
import { idleCores, residentBytes, startAll, warmUp, type Side, type Stand } from "./side-by-side.ts";

export interface HotPathPlan extends TestbedPlan {
  rounds: number;
  /** How long each slice is measured. */
  seconds: number;
}

/** Resident bytes of all processes that serve one contender, or several: started, the most after a load, and a while after the last. */
export interface RoundMemory {
  name: string;
  round: number;
  idleBytes: number;
  loadedBytes: number;
  recoveredBytes: number;
}

export interface HotPath extends Pick<Peers, "versions" | "leftOut"> {
  /** Of every slice, and, without a sweep, of the open loop that ends each round. */
  measurements: Measurement[];
  memory: RoundMemory[];
  /** What stands idle beside who is measured: CPU seconds a second, by process. Once a run. */
  idle: { name: string; cores: Record<string, number> }[];
}

/** What holds the machine up lasts for seconds: more slices tell more than longer ones. */
export const sliceSeconds = 0.8;
/** The ceiling is the best of these; one in flight tells the added latency. */
export const ceilingConnections = [8, 32, 128];
/** Far below everybody's ceiling but LiteLLM's, so that latency is the way's and not a queue's. */
export const openLoopRate = 200;
/** An odd number: the middle of three leaves out one in which the machine was held up. */
const sweepsPerRound = 3;
/**
 * Longer than the ledger lags behind (0.1 to 0.2 s): within the measured time Weir settles as much of what it answered before as it
 * leaves for after, so that no slice is spared the work that it puts off.
 */
const sliceWarmUpSeconds = 0.5;
/** Not in slices: a tail needs samples, and no ratio is made of it. */
const openLoop = ["--rate", String(openLoopRate), "--warm-up", "1", "--seconds", "3"];
const restMs = 2_000;

/** One in flight comes after the others: what a worker runs through for each message is compiled after some thousands of them. */
const sliceConnections = [...ceilingConnections, 1];

export async function runHotPath(plan: HotPathPlan): Promise<HotPath> {
  await using testbed = await openTestbed(plan);
  const { provider } = testbed;
  const { contenders, versions, leftOut } = await findPeers(testbed, plan.say);
  const others = [direct(provider), bareProxy(provider), ...contenders];
  const installations = [...others.map(alone), testbed.sharedWeir(["hot", "spread"])];
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
  const stands = await startAll(installations, stack);
  plan.say(`round ${round.round}/${plan.rounds} warming up ${stands.map(({ name }) => name).join(", ")}`);
  for (const side of stands.flatMap(({ sides }) => sides)) await warmUp(side);
  await testbed.quiet();
  if (round.round === 1) found.idle = await idleCores(stands);
  const loaded = new Map<string, number>();
  const take = async (stand: Stand, side: Side, load: Load): Promise<void> => {
    await takeLoad(side, load, round);
    loaded.set(stand.name, Math.max(loaded.get(stand.name) ?? 0, residentBytes(stand.installed)));
  };
  for (let n = 1; n <= sweepsPerRound; n++) {
    await takeSweep({ stands, sweep: (round.round - 1) * sweepsPerRound + n, seconds: plan.seconds, take });
    // Once a sweep and not after each slice of Weir's: PostgreSQL writes each page whole that it touches first after a checkpoint.
    await testbed.quiet();
  }
  for (const stand of stands) {
    for (const side of stand.sides) await take(stand, side, { load: `${openLoopRate}/s`, words: openLoop });
  }
  await pause(restMs);
  for (const { name, installed, idleBytes } of stands) {
    const loadedBytes = loaded.get(name) ?? 0;
    found.memory.push({ name, round: round.round, idleBytes, loadedBytes, recoveredBytes: residentBytes(installed) });
  }
  if (round.round === plan.rounds) for (const { installed } of stands) await installed.verify?.(plan.say);
}

type Load = Pick<MeasurePlan, "load" | "words" | "sweep">;

interface Sweep {
  stands: Stand[];
  /** Counted over all rounds. */
  sweep: number;
  seconds: number;
  take(stand: Stand, side: Side, load: Load): Promise<void>;
}

/** All contenders right after each other under each load, for what a ratio is made of to be measured in the same seconds. */
async function takeSweep({ stands, sweep, seconds, take }: Sweep): Promise<void> {
  const pairs = stands.flatMap((stand) => stand.sides.map((side) => ({ stand, side })));
  // Every second sweep goes backwards, so that nobody always comes after the same one.
  const order = sweep % 2 === 1 ? pairs : pairs.toReversed();
  const time = ["--warm-up", String(sliceWarmUpSeconds), "--seconds", String(seconds)];
  for (const connections of sliceConnections) {
    const words = [...time, "--connections", String(connections)];
    for (const { stand, side } of order) await take(stand, side, { load: `${connections} connections`, words, sweep });
  }
}

/** Nobody else is measured before what this load left to be done is done. */
async function takeLoad({ subject, running, generator }: Side, { load, words, sweep }: Load, round: Round): Promise<void> {
  const { testbed, plan, found } = round;
  const asked = ["--model", subject.model(instantModel), ...words];
  const at = { contender: subject.name, running, provider: testbed.provider, round: round.round };
  const when = sweep === undefined ? {} : { sweep };
  const measured = await measure({ ...at, ...when, load, words: asked, generator, untilSettled: true });
  found.measurements.push(measured);
  const place = sweep === undefined ? "" : `, sweep ${sweep}/${plan.rounds * sweepsPerRound}`;
  plan.say(`round ${round.round}/${plan.rounds}${place} ${progressLine(measured)}`);
}
