/**
 * How many requests a second a fleet answers, from what one costs each kind of process. A request costs a process a part that is
 * its own and a part of what the message costs that brings it, which is shared by all that travel in it: a + b / batch. Both
 * are found from two measurements of one gateway with one worker; what a batch is in another fleet follows from how it is built.
 */
import type { Shape } from "../parts/fleet.ts";
import { total, type Costs, type Measured } from "./costs.ts";

export interface Cost {
  /** Of the request, CPU microseconds. */
  own: number;
  /** Of the message. */
  shared: number;
}

export interface Model {
  costs: Record<string, Cost>;
  /** The share of the cores that worked at the ceiling; what is missing was waited for. */
  busy: number;
}

export interface Prediction {
  perSecond: number;
  costs: Costs;
}

/** What travels together, relative to one gateway with one worker. */
const batches: Record<string, (shape: Shape) => number> = {
  // Its clients are divided among the gateways.
  gateway: ({ connections, gateways }) => connections / gateways,
  // Each gateway gathers by itself, and has two messages under way to each worker.
  admission: messageOf,
  "redis-server": messageOf,
  "nats-server": messageOf,
  // A transaction takes what has come from all of them.
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

/** @param few and `many` differ in their connections alone; `cores` they ran on */
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

/** With everything on the same cores, as it was measured. */
export function predict({ shape, cores }: { shape: Shape; cores: number }, { costs, busy }: Model): Prediction {
  const entries = Object.entries(costs).map(([kind, { own, shared }]): [string, number] => [
    kind,
    own + shared / batchOf(kind, shape),
  ]);
  const each = Object.fromEntries(entries);
  return { perSecond: (cores * busy * 1_000_000) / total(each), costs: each };
}
