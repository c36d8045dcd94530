/** What it costs to share work out over masters of a Redis Cluster and over metering processes: fitted to one, checked with several. */
import type { Metering } from "../parts/metering.ts";
import type { ShardMeasurement, Shards } from "../parts/shards.ts";
import { median } from "../measure/median.ts";
import { callsOf } from "./calls.ts";
import { kindOf, sumOf, type Costs } from "./costs.ts";
import { costOf, type Cost } from "./model.ts";

/** Of a message in a cluster of one master; the other measured points check the result. */
const fittedRequests = { few: 4, many: 128 };

export interface Servers {
  isCluster: boolean;
  masters: number;
}

/** The medians of all rounds. */
export type ShardPoint = Omit<ShardMeasurement, "isCluster" | "masters" | "requests">;

/** @returns null: this was not measured */
export function shardPoint({ isCluster, masters }: Servers, requests: number, { measurements }: Shards): ShardPoint | null {
  const isOwn = (one: ShardMeasurement): boolean =>
    one.isCluster === isCluster && one.masters === masters && one.requests === requests;
  const own = measurements.filter(isOwn);
  if (own.length === 0) return null;
  const middle = (of: (one: ShardPoint) => number): number => median(own.map(of));
  return {
    calls: middle(({ calls }) => calls),
    cpuMicros: middle(({ cpuMicros }) => cpuMicros),
    perSecond: middle(({ perSecond }) => perSecond),
  };
}

/** How much more a request costs in a cluster of one master than in a Redis without cluster; null: not measured. */
export function clusterFactorOf(shards: Shards): number | null {
  const one = shardPoint({ isCluster: false, masters: 1 }, fittedRequests.many, shards);
  const cluster = shardPoint({ isCluster: true, masters: 1 }, fittedRequests.many, shards);
  return one && cluster && cluster.cpuMicros / one.cpuMicros;
}

/** The parts of a request's cost in a call of Redis, from a cluster of one master; null: not measured. */
export function callCostOf(shards: Shards): Cost | null {
  const at = (requests: number): { batch: number; cost: number } | null => {
    const point = shardPoint({ isCluster: true, masters: 1 }, requests, shards);
    return point && { batch: requests, cost: point.cpuMicros };
  };
  const [few, many] = [at(fittedRequests.few), at(fittedRequests.many)];
  return few && many && costOf(few, many);
}

/** CPU microseconds of all masters for a request. */
export function predictRequest({ requests, masters }: { requests: number; masters: number }, { own, shared }: Cost): number {
  return own + (shared * callsOf(requests, masters)) / requests;
}

export interface MeteringPoint {
  perSecond: number;
  /** CPU microseconds a settlement, by kind of process. */
  costs: Costs;
  logBytes: number;
  databaseBytes: number;
}

/** The medians of all rounds; null: so many processes were not measured. */
export function meteringPoint(processes: number, { measurements }: Metering): MeteringPoint | null {
  const own = measurements.filter((one) => one.processes === processes);
  if (own.length === 0) return null;
  const kinds = [...new Set(own.flatMap(({ cpuMicros }) => Object.keys(cpuMicros).map(kindOf)))];
  const costOfKind = (kind: string): number => median(own.map(({ cpuMicros }) => sumOf(cpuMicros, kind)));
  return {
    perSecond: median(own.map(({ perSecond }) => perSecond)),
    costs: Object.fromEntries(kinds.map((kind) => [kind, costOfKind(kind)])),
    logBytes: median(own.map(({ stored }) => stored.logBytes)),
    databaseBytes: median(own.map(({ stored }) => stored.databaseBytes)),
  };
}
