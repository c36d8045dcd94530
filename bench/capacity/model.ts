/**
 * Predicts the requests a second of a fleet from the cost of a request for each kind of process. The cost of a request has its own
 * part, and a share of the cost of its message, which all requests in that message share: a + b / batch. Two measurements of one
 * gateway with one worker give both parts. The batch size of another fleet follows from its shape.
 */
import type { Shape } from "../parts/fleet.ts";
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
  // A transaction contains the settlements of all gateways.
  metering: ({ connections }) => connections,
  postgres: ({ connections }) => connections,
};

function messageOf({ connections, gateways, workers }: Shape): number {
  return connections / (gateways * workers);
}

function batchOf(kind: string, shape: Shape): number {
  return (batches[kind] ?? (({ connections }: Shape) => connections))(shape);
}

export interface Point {
  shape: Shape;
  measured: Measured;
}

/** @param few and `many` differ only in their connections; `cores` are those of the measurement */
export function modelOf({ few, many, cores }: { few: Point; many: Point; cores: number }): Model {
  const kinds = Object.keys(many.measured.costs);
  const costs = kinds.map((kind): [string, Cost] => {
    const atFew = few.measured.costs[kind] ?? 0;
    const atMany = many.measured.costs[kind] ?? 0;
    const [fewPart, manyPart] = [1 / batchOf(kind, few.shape), 1 / batchOf(kind, many.shape)];
    const shared = Math.max(0, (atFew - atMany) / (fewPart - manyPart));
    return [kind, { own: atMany - shared * manyPart, shared }];
  });
  const busy = (many.measured.perSecond * total(many.measured.costs)) / 1_000_000 / cores;
  return { costs: Object.fromEntries(costs), busy };
}

/** Predicts a fleet with all processes on the same cores, as measured. */
export function predict({ shape, cores }: { shape: Shape; cores: number }, { costs, busy }: Model): Prediction {
  const entries = Object.entries(costs).map(([kind, { own, shared }]): [string, number] => [
    kind,
    own + shared / batchOf(kind, shape),
  ]);
  const each = Object.fromEntries(entries);
  return { perSecond: (cores * busy * 1_000_000) / total(each), costs: each };
}
