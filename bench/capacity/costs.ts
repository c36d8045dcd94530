/** The measured cost of a request for each kind of process: CPU microseconds, the median of all rounds. */
import { median } from "../measure/median.ts";
import type { Fleet, Shape } from "../parts/fleet.ts";

/** Costs by kind of process, including the load generator and the provider. */
export type Costs = Record<string, number>;

export interface Measured {
  perSecond: number;
  costs: Costs;
}

/** The measurement of one shape of the fleet; null: it was not measured. */
export function measuredAt(shape: Shape, { measurements }: Fleet): Measured | null {
  const own = measurements.filter((one) => isSame(one.shape, shape)).map(({ measurement }) => measurement);
  if (own.length === 0) return null;
  const kinds = [...new Set(own.flatMap(({ cpuPer1000 }) => Object.keys(cpuPer1000).map(kindOf)))];
  const costOf = (kind: string): number => median(own.map(({ cpuPer1000 }) => sumOf(cpuPer1000, kind) * 1_000));
  return {
    perSecond: median(own.map(({ result }) => result.perSecond)),
    costs: Object.fromEntries(kinds.map((kind) => [kind, costOf(kind)])),
  };
}

/** The kind of a process: all gateways are one kind. */
export function kindOf(process: string): string {
  return process.replace(/ \d+$/, "");
}

export function total(costs: Costs): number {
  return Object.values(costs).reduce((sum, cost) => sum + cost, 0);
}

/** @param costs by process */
export function sumOf(costs: Costs, kind: string): number {
  return total(Object.fromEntries(Object.entries(costs).filter(([process]) => kindOf(process) === kind)));
}

function isSame(one: Shape, other: Shape): boolean {
  const numbersOf = ({ gateways, workers, connections, metering = 1, masters = 1 }: Shape): string =>
    [gateways, workers, connections, metering, masters].join();
  return numbersOf(one) === numbersOf(other);
}
