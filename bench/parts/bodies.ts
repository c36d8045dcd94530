/** Measures bodies of three sizes, and small ones with streamed answers: the cost of a byte, and whether large requests succeed. */
import type { Contender, Running } from "../contenders/contender.ts";
import { findPeers, type Peers } from "../contenders/peers.ts";
import { bareProxy, direct, instantModel, type Provider } from "../contenders/provider.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, progressLine, type Measurement } from "../measure/measure.ts";
import { openTestbed, type TestbedPlan } from "./testbed.ts";

export interface BodiesPlan extends TestbedPlan {
  seconds: number;
}

export interface BodyCase {
  name: string;
  bytes: number;
  streamed: boolean;
  /** The connections of the closed loop; few for large bodies. */
  connections: number;
  /** The requests a second of the open loop, below the ceiling of each contender. */
  rate: number;
}

export interface Bodies extends Pick<Peers, "versions" | "leftOut"> {
  cases: BodyCase[];
  measurements: { case: string; loop: "closed" | "open"; measurement: Measurement }[];
}

const kibibyte = 1_024;
const mebibyte = 1_024 * kibibyte;

const cases: BodyCase[] = [
  { name: "1 KiB", bytes: kibibyte, streamed: false, connections: 32, rate: 100 },
  { name: "1 KiB, streamed", bytes: kibibyte, streamed: true, connections: 32, rate: 100 },
  { name: "100 KiB", bytes: 100 * kibibyte, streamed: false, connections: 32, rate: 50 },
  // The largest body that the specification allows.
  { name: "8 MiB", bytes: 8 * mebibyte, streamed: false, connections: 4, rate: 3 },
];

/** Runs one round, since the sizes differ far more than rounds do. */
export async function runBodies(plan: BodiesPlan): Promise<Bodies> {
  await using testbed = await openTestbed(plan);
  const { provider } = testbed;
  const { contenders, versions, leftOut } = await findPeers(testbed, plan.say);
  const found: Bodies = { cases, measurements: [], versions, leftOut };
  for (const contender of [direct(provider), bareProxy(provider), ...contenders, testbed.weir("hot")]) {
    await using running = await contender.start();
    await warmUp(contender, running);
    for (const one of cases) await measureCase({ one, contender, running, provider, plan, found });
    await running.settled?.();
    await running.verify?.(plan.say);
    await testbed.quiet();
  }
  return found;
}

async function warmUp(contender: Contender, { target }: Running): Promise<void> {
  const words = ["--connections", "64", "--warm-up", "0", "--seconds", String(contender.warmUpSeconds)];
  await runLoadProcess([...target, "--model", contender.model(instantModel), ...words]);
}

interface CaseRun {
  one: BodyCase;
  contender: Contender;
  running: Running;
  provider: Provider;
  plan: BodiesPlan;
  found: Bodies;
}

async function measureCase({ one, contender, running, provider, plan, found }: CaseRun): Promise<void> {
  const { bytes, streamed, connections, rate } = one;
  const loops = { closed: ["--connections", String(connections)], open: ["--rate", String(rate)] };
  const request = ["--model", contender.model(instantModel), "--body", String(bytes), ...(streamed ? ["--stream"] : [])];
  for (const [loop, loopWords] of Object.entries(loops) as ["closed" | "open", string[]][]) {
    const words = [...request, "--warm-up", "1", "--seconds", String(plan.seconds), ...loopWords];
    const load = `${one.name}, ${loop === "closed" ? `${connections} connections` : `${rate}/s`}`;
    const measurement = await measure({ contender: contender.name, running, provider, load, words, round: 1 });
    found.measurements.push({ case: one.name, loop, measurement });
    plan.say(progressLine(measurement));
  }
}
