/**
 * Measures Weir in two sizes on the same cores, with many workspaces, as in a real fleet. The results fit and check the capacity
 * model.
 */
import { instantModel } from "../contenders/provider.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, progressLine, type Measurement } from "../measure/measure.ts";
import { openTestbed, type TestbedPlan } from "./testbed.ts";

export interface FleetPlan extends TestbedPlan {
  rounds: number;
  seconds: number;
}

/** The number of processes of each kind, and of concurrent clients. */
export interface Shape {
  gateways: number;
  workers: number;
  connections: number;
}

export interface Fleet {
  measurements: { shape: Shape; measurement: Measurement }[];
}

/** The two shapes that fit the model. */
export const fittedShapes: [Shape, Shape] = [
  { gateways: 1, workers: 1, connections: 8 },
  { gateways: 1, workers: 1, connections: 128 },
];
/** The shapes that check its predictions: one in between, and a fleet of another size. */
export const checkedShapes: Shape[] = [
  { gateways: 1, workers: 1, connections: 32 },
  { gateways: 2, workers: 2, connections: 32 },
  { gateways: 2, workers: 2, connections: 128 },
];
const sizes = [1, 2];

export async function runFleet(plan: FleetPlan): Promise<Fleet> {
  await using testbed = await openTestbed(plan);
  const shapes = [...fittedShapes, ...checkedShapes];
  const found: Fleet = { measurements: [] };
  for (let round = 1; round <= plan.rounds; round++) {
    for (const size of round % 2 === 1 ? sizes : sizes.toReversed()) {
      const contender = testbed.weir("spread", { gateways: size, workers: size });
      await using running = await contender.start();
      const model = ["--model", contender.model(instantModel)];
      const warmUpArguments = ["--connections", "64", "--warm-up", "0", "--seconds", String(contender.warmUpSeconds)];
      await runLoadProcess([...running.target, ...model, ...warmUpArguments]);
      for (const shape of shapes.filter(({ gateways }) => gateways === size)) {
        const load = `${size} + ${size}, ${shape.connections} connections`;
        const words = [...model, "--warm-up", "1", "--seconds", String(plan.seconds), "--connections", String(shape.connections)];
        const at = { contender: contender.name, running, provider: testbed.provider };
        const measurement = await measure({ ...at, load, words, round });
        found.measurements.push({ shape, measurement });
        plan.say(`round ${round}/${plan.rounds} ${progressLine(measurement)}`);
      }
      await running.settled?.();
      if (round === plan.rounds) await running.verify?.(plan.say);
      await testbed.quiet();
    }
  }
  return found;
}
