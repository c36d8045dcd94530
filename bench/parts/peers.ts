/**
 * Measures Weir beside every gateway that is on this machine, governed and not, and how many requests pass a limit when all come at once.
 * Only the measured contender runs; the others are suspended, except Weir, which costs almost nothing while idle.
 */
import type { Running } from "../contenders/contender.ts";
import { single, type Installation } from "../contenders/installation.ts";
import { findAllPeers, type Peers } from "../contenders/peers.ts";
import { bareProxy, direct } from "../contenders/provider.ts";
import type { Measurement } from "../measure/measure.ts";
import { overspendOf, type Overspend } from "../overspend/run.ts";
import { passed } from "../overspend/send.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";
import { residentBytes, startAll, warmUp, type RunningInstallation, type Side } from "./side-by-side.ts";
import { sweepsPerRound, takeLoad, takeSweep, type Load } from "./sweep.ts";

export interface PeersPlan extends TestbedPlan {
  rounds: number;
  /** The measured time of each slice. */
  seconds: number;
}

export interface PeersRun extends Pick<Peers, "versions" | "leftOut"> {
  /** One for every slice. */
  measurements: Measurement[];
  /** Resident bytes of all processes: after the start, and the most after a load. One for each contender and round. */
  memory: { name: string; idleBytes: number; loadedBytes: number }[];
  overspend: Overspend[];
}

export const weirName = "Weir hot";
export const peerConnections = [1, 32, 128];
export const manyLoad = "128 connections";
export const streamedLoad = "32 streamed";

const loads: Load[] = [
  ...peerConnections.map((count) => ({ load: `${count} connections`, words: ["--connections", String(count)] })),
  { load: streamedLoad, words: ["--connections", "32", "--stream"] },
];

export async function runPeers(plan: PeersPlan): Promise<PeersRun> {
  await using testbed = await openTestbed(plan);
  const { provider } = testbed;
  const { contenders, versions, leftOut } = await findAllPeers(testbed, plan.say);
  const others = [direct(provider), bareProxy(provider), ...contenders];
  const installations = [...others.map(single), testbed.sharedWeir(["hot"])];
  const found: PeersRun = { measurements: [], memory: [], overspend: [], versions, leftOut };
  for (let round = 1; round <= plan.rounds; round++) await takeRound({ installations, testbed, round, plan, found });
  return found;
}

interface Round {
  installations: Installation[];
  testbed: Testbed;
  round: number;
  plan: PeersPlan;
  found: PeersRun;
}

async function takeRound({ installations, testbed, round, plan, found }: Round): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const started = await startAll(installations, stack);
  plan.say(`round ${round}/${plan.rounds} warming up ${started.map(({ name }) => name).join(", ")}`);
  for (const side of started.flatMap(({ sides }) => sides)) await warmUp(side);
  for (const { installed } of started) installed.suspend?.();
  await testbed.quiet();
  const loaded = new Map<string, number>();
  const take = async ({ name, installed }: RunningInstallation, side: Side, load: Load): Promise<void> => {
    const place = { ...plan, provider: testbed.provider, round };
    found.measurements.push(await alone(installed, () => takeLoad(side, load, place)));
    loaded.set(name, Math.max(loaded.get(name) ?? 0, residentBytes(installed)));
  };
  for (let n = 1; n <= sweepsPerRound; n++) {
    await takeSweep({ started, sweep: (round - 1) * sweepsPerRound + n, seconds: plan.seconds, loads, take });
    await testbed.quiet();
  }
  for (const { name, idleBytes } of started) found.memory.push({ name, idleBytes, loadedBytes: loaded.get(name) ?? 0 });
  if (round < plan.rounds) return;
  for (const { name, installed } of started) {
    const tested = await alone(installed, () => overspendOf(name, installed));
    for (const one of tested) plan.say(overspendLine(one));
    found.overspend.push(...tested);
    await installed.settled?.();
    await installed.verify?.(plan.say);
  }
}

async function alone<T>({ suspend, resume }: Pick<Running, "suspend" | "resume">, work: () => Promise<T>): Promise<T> {
  resume?.();
  const done = await work();
  suspend?.();
  return done;
}

function overspendLine({ contender, case: what, first, again }: Overspend): string {
  const later = again === null ? "" : `, and ${passed(again)} of as many later`;
  return `${contender}, ${what}: ${passed(first)} passed of 200 at once${later} ${JSON.stringify(first)}`;
}
