/** The limits of a fleet on its own cores. Its throughput ends at the lowest one. */
import { eventPartitionsMax } from "../../src/backing/limits.ts";
import type { Shape } from "../parts/fleet.ts";
import { total, type Costs } from "./costs.ts";
import { predict, type Model } from "./model.ts";

export interface Size {
  gateways: number;
  workers: number;
  /** The number of metering processes. */
  metering: number;
  /** One: a Redis without cluster. */
  masters: number;
  /** The cores of all machines together. */
  cores: number;
}

export type LimitName = "cores" | "gateways" | "admission workers" | "Redis" | "metering" | "PostgreSQL's log";

export interface Limit {
  by: LimitName;
  perSecond: number;
}

export interface Capacity {
  size: Size;
  /** Sorted, the lowest first. */
  limits: Limit[];
  /** CPU microseconds per request of all processes of Weir, by kind. */
  costs: Costs;
}

/** What the disk of PostgreSQL's log is supposed to write in a second, all day. This is no measurement. */
export const logBytesPerSecond = 200_000_000;
/** Concurrent requests to each gateway: enough for full messages. */
const connectionsPerGateway = 128;
/** A smaller cluster cannot replace a dead master. */
const clusterMastersMin = 3;
/** Processes of the bench, which share the cores. */
const benchProcesses = new Set(["load generator", "provider"]);

/** Assumes one PostgreSQL, and so many workspaces that none has a large share. NATS uses all cores that it gets. */
export function capacityOf(size: Size, model: Model): Capacity {
  const { gateways, workers, metering, masters, cores } = size;
  const shape: Shape = { gateways, workers, metering, masters, connections: gateways * connectionsPerGateway };
  const own = Object.entries(predict({ shape, cores }, model).costs).filter(([kind]) => !benchProcesses.has(kind));
  const costs = Object.fromEntries(own);
  const limit = (by: LimitName, units: number, microseconds: number): Limit => {
    return { by, perSecond: (units * model.busy * 1_000_000) / microseconds };
  };
  const of = (kind: string): number => costs[kind] ?? Number.NaN;
  const limits = [
    limit("cores", cores, total(costs)),
    limit("gateways", gateways, of("gateway")),
    limit("admission workers", workers, of("admission")),
    limit("Redis", masters, of("redis-server")),
    // A metering process waits while its transaction runs in PostgreSQL.
    limit("metering", metering, of("metering") + of("postgres")),
    ...(model.logBytes === null ? [] : [{ by: "PostgreSQL's log" as const, perSecond: logBytesPerSecond / model.logBytes }]),
  ];
  return { size, costs, limits: limits.toSorted((one, other) => one.perSecond - other.perSecond) };
}

/** The best division of so many cores: what ends first gets one more, for as long as that helps. */
export function bestSize(cores: number, model: Model): Capacity {
  let best = capacityOf({ gateways: 1, workers: 1, metering: 1, masters: 1, cores }, model);
  for (let size = grown(best, model); size !== null;) {
    const next = capacityOf(size, model);
    if (rateOf(next) > rateOf(best)) best = next;
    size = grown(next, model);
  }
  return best;
}

/** One more of what ends first; null: there can be no more of it. */
function grown({ size, limits }: Capacity, { clusterFactor }: Model): Size | null {
  const { gateways, workers, metering, masters } = size;
  switch (limits[0]?.by) {
    case "gateways":
      return { ...size, gateways: gateways + 1 };
    case "admission workers":
      return { ...size, workers: workers + 1 };
    case "metering":
      return metering === eventPartitionsMax ? null : { ...size, metering: metering + 1 };
    case "Redis":
      return clusterFactor === null ? null : { ...size, masters: Math.max(clusterMastersMin, masters + 1) };
    default:
      return null;
  }
}

/** Requests a second. */
export function rateOf({ limits }: Capacity): number {
  return limits[0]?.perSecond ?? Number.NaN;
}

/** The cores that each kind of process keeps busy at the capacity. */
export function coresOf(capacity: Capacity): Costs {
  const busy = Object.entries(capacity.costs).map(([kind, micros]) => [kind, (rateOf(capacity) * micros) / 1_000_000] as const);
  return Object.fromEntries(busy);
}

/** Includes all processes of Weir. */
export function coreHoursPerMillion({ costs }: Capacity): number {
  return total(costs) / 3_600;
}
