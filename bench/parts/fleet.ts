/**
 * Measures Weir in two sizes on the same cores, with many workspaces, as in a real fleet, and with one workspace, to whose gateways credit
 * is lent; and once with a Redis Cluster and two metering processes. The results fit and check the capacity model.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startRedisCluster } from "../../scripts/services/redis.ts";
import type { Contender } from "../contenders/contender.ts";
import { instantModel } from "../contenders/provider.ts";
import { runLoadProcess } from "../measure/load-process.ts";
import { measure, progressLine, type Measurement } from "../measure/measure.ts";
import { dataFolder } from "../paths.ts";
import { openTestbed, type Testbed, type TestbedPlan } from "./testbed.ts";

export interface FleetPlan extends TestbedPlan {
  rounds: number;
  seconds: number;
}

/** The number of processes of each kind, and of concurrent clients. */
export interface Shape {
  gateways: number;
  workers: number;
  connections: number;
  /** Default: one. */
  metering?: number;
  /** The masters of a Redis Cluster; default: one Redis without cluster. */
  masters?: number;
}

export interface Fleet {
  /** With many workspaces (_spread_). */
  measurements: { shape: Shape; measurement: Measurement }[];
  /** With one workspace (_hot_), whose requests are mostly decided under blocks; former results lack it. */
  hot?: Fleet["measurements"];
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
/** The shapes that check predictions of one workspace. */
export const checkedHotShapes: Shape[] = [
  { gateways: 1, workers: 1, connections: 32 },
  { gateways: 2, workers: 2, connections: 128 },
];
/** The shape that checks what a Redis Cluster and several metering processes cost. */
export const sharedOutShape = { gateways: 1, workers: 1, connections: 128, metering: 2, masters: 3 };
const hotShapes = [...fittedShapes, ...checkedHotShapes];
const sizes = [1, 2];
/** No master is to fail because the machine is busy. */
const clusterNodeTimeoutMs = 5_000;

export async function runFleet(plan: FleetPlan): Promise<Fleet> {
  await using testbed = await openTestbed(plan);
  const shapes = [...fittedShapes, ...checkedShapes];
  const measurements: Fleet["measurements"] = [];
  const hot: Fleet["measurements"] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    for (const size of round % 2 === 1 ? sizes : sizes.toReversed()) {
      const measured = async (population: "hot" | "spread", wanted: Shape[]) => {
        const contender = testbed.weir(population, { gateways: size, workers: size });
        const own = wanted.filter(({ gateways }) => gateways === size);
        return await measureShapes(own, { contender, round, testbed, plan });
      };
      measurements.push(...(await measured("spread", shapes)));
      hot.push(...(await measured("hot", hotShapes)));
    }
  }
  // Last, since the single Redis then lacks what the ledger got meanwhile.
  measurements.push(...(await measureSharedOut(testbed, plan)));
  return { measurements, hot };
}

interface ShapesPlan {
  contender: Contender;
  round: number;
  testbed: Testbed;
  plan: FleetPlan;
}

async function measureShapes(shapes: Shape[], { contender, round, testbed, plan }: ShapesPlan): Promise<Fleet["measurements"]> {
  await using running = await contender.start();
  const found: Fleet["measurements"] = [];
  const model = ["--model", contender.model(instantModel)];
  const warmUpArguments = ["--connections", "64", "--warm-up", "0", "--seconds", String(contender.warmUpSeconds)];
  await runLoadProcess([...running.target, ...model, ...warmUpArguments]);
  for (const shape of shapes) {
    const load = Object.entries(shape).map(([name, count]) => `${count} ${name}`);
    const words = [...model, "--warm-up", "1", "--seconds", String(plan.seconds), "--connections", String(shape.connections)];
    const at = { contender: contender.name, running, provider: testbed.provider };
    const measurement = await measure({ ...at, load: load.join(", "), words, round });
    found.push({ shape, measurement });
    plan.say(`round ${round}/${plan.rounds} ${progressLine(measurement)}`);
  }
  await running.settled?.();
  if (round === plan.rounds) await running.verify?.(plan.say);
  await testbed.quiet();
  return found;
}

async function measureSharedOut(testbed: Testbed, plan: FleetPlan): Promise<Fleet["measurements"]> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start the servers: ${servers.missing}`);
  const { gateways, workers, metering, masters } = sharedOutShape;
  const folder = join(dataFolder, "services/redis-cluster");
  rmSync(folder, { recursive: true, force: true });
  const options = { program: servers.redis, folder, masters, hasReplicas: false, nodeTimeoutMs: clusterNodeTimeoutMs };
  await using cluster = await startRedisCluster(options);
  const contender = testbed.weir("spread", { gateways, workers, metering, cluster });
  const found: Fleet["measurements"] = [];
  for (let round = 1; round <= plan.rounds; round++) {
    found.push(...(await measureShapes([sharedOutShape], { contender, round, testbed, plan })));
  }
  return found;
}
