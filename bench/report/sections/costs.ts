/** Formats CPU time by kind of process, as bars and as a table. */
import { kindOf } from "../../capacity/costs.ts";
import type { Cost } from "../../measure/measure.ts";
import type { Bar } from "../plots/bars.ts";
import { shown } from "../table.ts";

/** The name for a contender's own process. */
const ownProcess = "gateway or proxy";
const others = ["admission", "metering", "nats-server", "redis-server", "postgres", "prober"];
/** The bench's processes. */
const benchProcesses = ["provider", "load generator"];
/** Ordered along the path of a request. */
export const processOrder = [ownProcess, ...others, ...benchProcesses];

/** One bar for each contender, in CPU microseconds a request. */
export function costBars(all: Cost[]): Bar[] {
  return all.map((one) => {
    return { name: one.contender, parts: [...costsOf(one)].map(([name, value]) => ({ name, value })) };
  });
}

/** A table with a column for each kind of process. */
export function costLines(all: Cost[]): { head: string[]; lines: string[][] } {
  const lines = all.map((one) => {
    const costs = costsOf(one);
    const columns = processOrder.map((kind) => costs.get(kind));
    return [one.contender, shown(totalOf(costs)), ...columns.map((cost) => (cost === undefined ? "" : shown(cost)))];
  });
  return { head: ["in all", ...processOrder], lines };
}

/** CPU microseconds a request by kind of process. */
export function costsOf({ cpuPer1000 }: Cost): Map<string, number> {
  const costs = new Map<string, number>();
  for (const [process, seconds] of Object.entries(cpuPer1000)) {
    const kind = [...others, ...benchProcesses].includes(kindOf(process)) ? kindOf(process) : ownProcess;
    costs.set(kind, (costs.get(kind) ?? 0) + seconds * 1_000);
  }
  return costs;
}

/** Without provider and load generator. */
export function ownCostsOf(cost: Cost): Map<string, number> {
  return new Map([...costsOf(cost)].filter(([kind]) => !benchProcesses.includes(kind)));
}

export function totalOf(costs: Map<string, number>): number {
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0);
}
