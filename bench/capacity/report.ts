/** The capacity model as tables: the cost of a request by process, the model's accuracy, and predictions for several sizes. */
import { checkedShapes, fittedShapes, type Fleet, type Shape } from "../parts/fleet.ts";
import type { HotPath } from "../parts/hot-path.ts";
import { costAtCeiling } from "../report/rows.ts";
import { shown, table } from "../report/table.ts";
import { measuredAt, total, type Measured } from "./costs.ts";
import { bestSize, capacityOf, coreHoursPerMillion, rateOf, type Capacity, type Size } from "./limits.ts";
import { modelOf, predict, type Model, type Point } from "./model.ts";

const coreCounts = [2, 4, 8, 16, 32];

const growth: Record<string, string> = {
  gateway: "any number of processes on one port or behind a balancer",
  admission: "any number of processes; each more makes messages smaller",
  metering: "one process; several divide the workspaces, never one workspace's chain",
  "nats-server": "uses several cores; a cluster beyond that",
  "redis-server": "one core each; Redis Cluster divides the workspaces",
  postgres: "several cores for readers, one for each metering process",
};

export interface Fitted {
  model: Model;
  many: Measured;
  fleet: Fleet;
  cores: number;
}

/** @returns null when the required shapes were not measured */
export function fit(fleet: Fleet, cores: number): Fitted | null {
  const [few, many] = fittedShapes.map((shape) => pointOf(shape, fleet));
  if (!few || !many) return null;
  return { model: modelOf({ few, many, cores }), many: many.measured, fleet, cores };
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
  const lines = checkedShapes.flatMap((shape) => {
    const measured = measuredAt(shape, fleet);
    if (measured === null) return [];
    const predicted = predict({ shape, cores }, model);
    const name = `${countOf(shape.gateways, "gateway")}, ${countOf(shape.workers, "worker")}, ${shape.connections} connections`;
    const costs = compared(total(predicted.costs), total(measured.costs));
    return [[name, ...costs, ...compared(predicted.perSecond, measured.perSecond)]];
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

function compared(predicted: number, measured: number): string[] {
  const error = (predicted / measured - 1) * 100;
  return [shown(predicted), shown(measured), `${error > 0 ? "+" : ""}${error.toFixed(1)} %`];
}

export function sizesTable({ model }: Fitted, asked: Size | null): string {
  const capacities = asked === null ? coreCounts.map((cores) => bestSize(cores, model)) : [capacityOf(asked, model)];
  const head = [
    "cores",
    "gateways",
    "admission workers",
    "metering",
    "requests/s",
    "ends by",
    "then by",
    "core-hours per million requests",
  ];
  return table(head, capacities.map(sizeLine));
}

function sizeLine(capacity: Capacity): string[] {
  const { size, limits } = capacity;
  const [, next] = limits;
  const { cores, gateways, workers, metering } = size;
  const then = next ? `${next.by} at ${shown(next.perSecond)}` : "";
  const hours = shown(coreHoursPerMillion(capacity));
  const counts = [cores, gateways, workers, metering].map(String);
  return [...counts, shown(rateOf(capacity)), limits[0]?.by ?? "", then, hours];
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
