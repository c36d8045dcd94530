/**
 * Predicts the requests a second of a fleet from the cost of a request for each kind of process. The cost of a request has its own
 * part, and a share of the cost of its message, which all requests in that message share: a + b / batch. Two measurements of one
 * gateway with one worker give both parts. The batch size of another fleet follows from its shape. In a Redis Cluster a message becomes
 * several calls, each with a part of its requests.
 */
import type { Shape } from "../parts/fleet.ts";
import { callsOf } from "./calls.ts";
import { total, type Costs, type Measured } from "./costs.ts";

export interface Cost {
  /** The cost of the request itself, in CPU microseconds. */
  own: number;
  /** The cost of the message. */
  shared: number;
}

export interface Model {
  costs: Record<string, Cost>;
  /** The share of the cores that were busy at the ceiling. */
  busy: number;
  /** How many times as much a request costs in a Redis Cluster of one master as in a Redis without cluster; null: not measured. */
  clusterFactor: number | null;
  /** Bytes that a request leaves in the write-ahead log of PostgreSQL; null: not measured. */
  logBytes: number | null;
}

export interface Prediction {
  perSecond: number;
  costs: Costs;
}

/** The batch size, relative to one gateway with one worker. */
const batches: Record<string, (shape: Shape) => number> = {
  // The clients are divided among the gateways.
  gateway: ({ connections, gateways }) => connections / gateways,
  // Each gateway makes its own batches, and has two open messages to each worker.
  admission: messageOf,
  "redis-server": messageOf,
  "nats-server": messageOf,
  // A transaction contains the settlements of all gateways, for its part of the workspaces.
  metering: transactionOf,
  postgres: transactionOf,
};

function messageOf({ connections, gateways, workers }: Shape): number {
  return connections / (gateways * workers);
}

function transactionOf({ connections, metering = 1 }: Shape): number {
  return connections / metering;
}

function batchOf(kind: string, shape: Shape): number {
  return Math.max(1, (batches[kind] ?? (({ connections }: Shape) => connections))(shape));
}

export interface Point {
  shape: Shape;
  measured: Measured;
}

/** @param few and `many` differ only in their connections; `cores` are those of the measurement */
export function modelOf({ few, many, cores }: { few: Point; many: Point; cores: number }): Model {
  const kinds = Object.keys(many.measured.costs);
  const costs = kinds.map((kind): [string, Cost] => {
    const atFew = { batch: batchOf(kind, few.shape), cost: few.measured.costs[kind] ?? 0 };
    const atMany = { batch: batchOf(kind, many.shape), cost: many.measured.costs[kind] ?? 0 };
    return [kind, costOf(atFew, atMany)];
  });
  const busy = (many.measured.perSecond * total(many.measured.costs)) / 1_000_000 / cores;
  return { costs: Object.fromEntries(costs), busy, clusterFactor: null, logBytes: null };
}

/** Both parts of a cost, from what a request costs in batches of two sizes. */
export function costOf(few: { batch: number; cost: number }, many: { batch: number; cost: number }): Cost {
  const shared = Math.max(0, (few.cost - many.cost) / (1 / few.batch - 1 / many.batch));
  return { own: many.cost - shared / many.batch, shared };
}

/** Predicts a fleet with all processes on the same cores, as measured. */
export function predict({ shape, cores }: { shape: Shape; cores: number }, { costs, busy, clusterFactor }: Model): Prediction {
  const { masters = 1 } = shape;
  const entries = Object.entries(costs).map(([kind, { own, shared }]): [string, number] => {
    const batch = batchOf(kind, shape);
    if (kind !== "redis-server" || masters === 1) return [kind, own + shared / batch];
    return [kind, (clusterFactor ?? Number.NaN) * (own + (shared * callsOf(batch, masters)) / batch)];
  });
  const each = Object.fromEntries(entries);
  return { perSecond: (cores * busy * 1_000_000) / total(each), costs: each };
}
