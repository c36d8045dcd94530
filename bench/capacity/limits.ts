/** The limits of a fleet on its own cores. Its throughput ends at the lowest one. */
import type { Shape } from "../parts/fleet.ts";
import { total } from "./costs.ts";
import { predict, type Model } from "./model.ts";

export interface Size {
  gateways: number;
  workers: number;
  /** The number of metering processes. */
  metering: number;
  /** The cores of all machines together. */
  cores: number;
}

export interface Limit {
  by: string;
  perSecond: number;
}

export interface Capacity {
  size: Size;
  /** Sorted, the lowest first. */
  limits: Limit[];
  /** CPU microseconds per request of all processes of Weir. */
  cost: number;
}

/** Concurrent requests to each gateway: enough for full messages. */
const connectionsPerGateway = 128;
/** Processes of the bench, which share the cores. */
const benchProcesses = new Set(["load generator", "provider"]);

/** Assumes one Redis, one PostgreSQL, and so many workspaces that none has a large share. NATS uses all cores that it gets. */
export function capacityOf(size: Size, model: Model): Capacity {
  const { gateways, workers, metering, cores } = size;
  const shape: Shape = { gateways, workers, connections: gateways * connectionsPerGateway };
  const own = Object.entries(predict({ shape, cores }, model).costs).filter(([kind]) => !benchProcesses.has(kind));
  const costs = Object.fromEntries(own);
  const cost = total(costs);
  const limit = (by: string, units: number, microseconds: number): Limit => {
    return { by, perSecond: (units * model.busy * 1_000_000) / microseconds };
  };
  const of = (kind: string): number => costs[kind] ?? Number.NaN;
  const limits = [
    limit("cores", cores, cost),
    limit("gateways", gateways, of("gateway")),
    limit("admission workers", workers, of("admission")),
    limit("Redis", 1, of("redis-server")),
    // A metering process waits while its transaction runs in PostgreSQL.
    limit("metering", metering, of("metering") + of("postgres")),
  ];
  return { size, cost, limits: limits.toSorted((one, other) => one.perSecond - other.perSecond) };
}

/** The best division of so many cores; among equal ones the smallest. */
export function bestSize(cores: number, model: Model): Capacity {
  let best = capacityOf({ gateways: 1, workers: 1, metering: 1, cores }, model);
  for (const metering of upTo(cores)) {
    for (const workers of upTo(cores)) {
      for (const gateways of upTo(cores)) {
        const other = capacityOf({ gateways, workers, metering, cores }, model);
        if (rateOf(other) > rateOf(best) * worthMore) best = other;
      }
    }
  }
  return best;
}

/** An additional process must bring at least 1 % more. */
const worthMore = 1.01;

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}

/** Requests a second. */
export function rateOf({ limits }: Capacity): number {
  return limits[0]?.perSecond ?? Number.NaN;
}

/** Includes all processes of Weir. */
export function coreHoursPerMillion({ cost }: Capacity): number {
  return cost / 3_600;
}
