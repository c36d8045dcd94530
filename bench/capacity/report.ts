/** The capacity model as tables: the cost of a request by process, and the model's accuracy. */
import { eventPartitionsMax } from "../../src/backing/limits.ts";
import { checkedShapes, fittedShapes, sharedOutShape, type Fleet, type Shape } from "../parts/fleet.ts";
import type { HotPath } from "../parts/hot-path.ts";
import type { Facts } from "../report/facts.ts";
import { costAtCeiling } from "../report/rows.ts";
import { shown, table } from "../report/table.ts";
import { measuredAt, total, type Measured } from "./costs.ts";
import { modelOf, predict, type Model, type Point } from "./model.ts";
import { clusterFactorOf, meteringPoint } from "./shared-out.ts";

const growth: Record<string, string> = {
  gateway: "any number of processes on one port or behind a balancer",
  admission: "any number of processes; each more makes messages smaller",
  metering: `up to ${eventPartitionsMax} processes; they share out workspaces, never one workspace's chain`,
  "nats-server": "uses several cores; a cluster of three",
  "redis-server": "one core each; the masters of a Redis Cluster share out workspaces",
  postgres: "one primary: one core for each metering process, others for readers",
};

export interface Fitted {
  model: Model;
  many: Measured;
  fleet: Fleet;
  cores: number;
}

/** @returns null when the required shapes were not measured */
export function fit({ fleet, shards, metering, machine: { cores } }: Facts): Fitted | null {
  const [few, many] = fittedShapes.map((shape) => (fleet ? pointOf(shape, fleet) : null));
  if (!fleet || !few || !many) return null;
  const clusterFactor = shards ? clusterFactorOf(shards) : null;
  const logBytes = (metering && meteringPoint(1, metering)?.logBytes) ?? null;
  return { model: { ...modelOf({ few, many, cores }), clusterFactor, logBytes }, many: many.measured, fleet, cores };
}

function pointOf(shape: Shape, fleet: Fleet): Point | null {
  const measured = measuredAt(shape, fleet);
  return measured && { shape, measured };
}

export function stagesTable({ model, many }: Fitted): string {
  const lines = Object.entries(growth).map(([kind, how]) => {
    const { own, shared } = model.costs[kind] ?? { own: Number.NaN, shared: Number.NaN };
    const cost = many.costs[kind] ?? Number.NaN;
    return [kind, shown(own), shown(shared), shown(cost), shown((model.busy * 1_000_000) / cost), how];
  });
  const head = ["process", "µs a request", "+ µs a message", "µs at 128 connections", "requests/s of one core", "more of it"];
  return table(head, lines);
}

export function checkTable({ model, fleet, cores }: Fitted): string {
  const lines = [...checkedShapes, sharedOutShape].flatMap((shape) => {
    const measured = measuredAt(shape, fleet);
    if (measured === null || (shape.masters !== undefined && model.clusterFactor === null)) return [];
    const predicted = predict({ shape, cores }, model);
    const costs = compared(total(predicted.costs), total(measured.costs));
    return [[shapeName(shape), ...costs, ...compared(predicted.perSecond, measured.perSecond)]];
  });
  const head = [
    "not used for the model",
    "CPU µs a request predicted",
    "measured",
    "error",
    "requests/s predicted",
    "measured",
    "error",
  ];
  return table(head, lines);
}

export function shapeName({ gateways, workers, connections, masters, metering }: Shape): string {
  const more = [masters && `${masters} Redis masters`, metering && `${metering} metering`].filter(Boolean);
  return [countOf(gateways, "gateway"), countOf(workers, "worker"), ...more, `${connections} connections`].join(", ");
}

/** The two figures, and by how much the prediction is wrong. */
export function compared(predicted: number, measured: number): string[] {
  const error = (predicted / measured - 1) * 100;
  return [shown(predicted), shown(measured), `${error > 0 ? "+" : ""}${error.toFixed(1)} %`];
}

/** The highest rate of charges of a single workspace, from the cost at the ceiling, since its ledger is one chain of transactions. */
export function chainText({ measurements }: HotPath): string {
  const { cpuPer1000 = {} } = costAtCeiling(measurements, "Weir hot") ?? {};
  const microseconds = ((cpuPer1000["metering"] ?? Number.NaN) + (cpuPer1000["postgres"] ?? Number.NaN)) * 1_000;
  return `A single workspace (_hot_) reaches about ${shown(1_000_000 / microseconds)} requests a second, since its charges follow each other.`;
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
