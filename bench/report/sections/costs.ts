/** CPU time by kind of process, as bars and as a table. */
import { kindOf } from "../../capacity/costs.ts";
import type { Measurement } from "../../measure/measure.ts";
import type { Bar } from "../plots/bars.ts";
import { shown } from "../table.ts";

/** A contender's own process, whatever it is called. */
const itself = "gateway or proxy";
const others = ["admission", "metering", "nats-server", "redis-server", "postgres", "prober"];
/** The bench's own. */
const beside = ["provider", "load generator"];
/** Along a request's way. */
export const processOrder = [itself, ...others, ...beside];

/** One bar for each measurement, in CPU microseconds a request. */
export function costBars(measurements: Measurement[]): Bar[] {
  return measurements.map((one) => {
    return { name: one.contender, parts: [...costsOf(one)].map(([name, value]) => ({ name, value })) };
  });
}

/** A column for each kind of process. */
export function costLines(measurements: Measurement[]): { head: string[]; lines: string[][] } {
  const lines = measurements.map((one) => {
    const costs = costsOf(one);
    const columns = processOrder.map((kind) => costs.get(kind));
    return [one.contender, shown(totalOf(costs)), ...columns.map((cost) => (cost === undefined ? "" : shown(cost)))];
  });
  return { head: ["in all", ...processOrder], lines };
}

/** CPU microseconds a request by kind of process. */
export function costsOf({ cpuPer1000 }: Measurement): Map<string, number> {
  const costs = new Map<string, number>();
  for (const [process, seconds] of Object.entries(cpuPer1000)) {
    const kind = [...others, ...beside].includes(kindOf(process)) ? kindOf(process) : itself;
    costs.set(kind, (costs.get(kind) ?? 0) + seconds * 1_000);
  }
  return costs;
}

/** Without provider and load generator. */
export function ownCostsOf(measurement: Measurement): Map<string, number> {
  return new Map([...costsOf(measurement)].filter(([kind]) => !beside.includes(kind)));
}

export function totalOf(costs: Map<string, number>): number {
  return [...costs.values()].reduce((sum, cost) => sum + cost, 0);
}
