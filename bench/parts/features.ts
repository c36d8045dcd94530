/** Measures the cost of each feature: the same load on each step, from a bare relay to all of Weir. */
import { composed } from "../contenders/composed.ts";
import type { Contender } from "../contenders/contender.ts";
import { bareProxy, instantModel } from "../contenders/provider.ts";
import { steps, type Step } from "../features/steps.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, progressLine, type Measurement } from "../measure/measure.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";

export interface FeaturesPlan extends TestbedPlan {
  rounds: number;
  seconds: number;
}

export interface Features {
  steps: Step[];
  /** One for each step and round, with many connections and with one. `contender` is the step's name. */
  measurements: Measurement[];
}

/** The number of connections at which Weir reaches its ceiling. */
export const manyConnections = 128;
/** A load until the code of each step is compiled. */
const warmUpArguments = ["--connections", "64", "--warm-up", "0", "--seconds", "2"];

export async function runFeatures(plan: FeaturesPlan): Promise<Features> {
  const found: Features = { steps, measurements: [] };
  for (let round = 1; round <= plan.rounds; round++) {
    // Each round starts its own NATS and Redis, since composed steps leave data in counters and streams.
    await measureSteps({ names: steps.filter(isComposed), round, plan, found });
    await measureSteps({ names: steps.filter((step) => !isComposed(step)), round, plan, found });
  }
  return found;
}

function isComposed({ name }: Step): boolean {
  return name !== "metering" && name !== "prompts";
}

interface Turn {
  names: Step[];
  round: number;
  plan: FeaturesPlan;
  found: Features;
}

async function measureSteps({ names, round, plan, found }: Turn): Promise<void> {
  await using testbed = await openTestbed(plan);
  for (const { name } of names) {
    const contender = contenderOf(name, testbed);
    await using running = await contender.start();
    const model = ["--model", contender.model(instantModel)];
    await runLoadProcess([...running.target, ...model, ...warmUpArguments]);
    for (const connections of [manyConnections, 1]) {
      const load = `${connections} connections`;
      const time = ["--warm-up", "1", "--seconds", String(plan.seconds)];
      const words = [...model, ...time, "--connections", String(connections)];
      const measured = await measure({ contender: name, running, provider: testbed.provider, load, words, round });
      found.measurements.push(measured);
      plan.say(`round ${round}/${plan.rounds} ${progressLine(measured)}`);
    }
    await running.settled?.();
    await running.verify?.(plan.say);
    await testbed.quiet();
  }
}

function contenderOf(name: Step["name"], testbed: Testbed): Contender {
  if (name === "relay") return bareProxy(testbed.provider);
  if (name === "metering") return testbed.weir("hot");
  if (name === "prompts") return testbed.weir("hot", { storePrompts: true });
  return composed(name, testbed.fleet);
}
