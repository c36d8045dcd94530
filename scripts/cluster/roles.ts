/** The processes of a fleet. To add a kind of worker, add one line here. */
import { isFree } from "../services/ports.ts";

export interface Sizes {
  gateways: number;
  workers: number;
  metering: number;
}

interface Role {
  name: string;
  /** The arguments of Bun. The command line is exactly `bun` and these, so that operators find a process by it. */
  command: string[];
  count(sizes: Sizes): number;
  /** Whether it runs on the core of NATS and Redis, on a machine of two cores. */
  sharesCore?: true;
}

const worker = (name: string, count: Role["count"] = () => 1): Role => ({ name, command: ["workers/main.ts", name], count });

/** Groups in the order of stopping: callers stop before the workers that they call, and settlement stops last. */
export const stopGroups: readonly Role[][] = [
  [{ name: "gateway", command: ["src/main.ts"], count: ({ gateways }) => gateways }],
  [{ ...worker("admission", ({ workers }) => workers), sharesCore: true }, worker("background")],
  [worker("metering", ({ metering }) => metering)],
];

/** The names of a role's processes, such as "gateway 1". */
export function membersOf(role: Role, sizes: Sizes): string[] {
  return Array.from({ length: role.count(sizes) }, (_, index) => `${role.name} ${index + 1}`);
}

const portMax = 65_535;

interface MetricsPlan {
  /** The port of the first process, which is a gateway; null: no process has one. */
  first: number | null;
  host: string;
  /** The port of the API, which all gateways share. */
  port: number;
  /** Every process, in the order of their ports. */
  names: readonly string[];
}

/**
 * One port cannot show the metrics of several processes. So each has its own, counted from the first, and keeps it over restarts.
 * @throws ClusterError naming the port that is not free
 */
export async function metricsPorts({ first, host, port, names }: MetricsPlan): Promise<Map<string, number>> {
  if (first === null) return new Map();
  const ports = new Map(names.map((name, index) => [name, first + index]));
  for (const [name, own] of ports) {
    const isUsable = own > 0 && own <= portMax && own !== port && (await isFree(own, host));
    if (!isUsable) {
      const last = first + names.length - 1;
      throw new ClusterError(
        `METRICS_PORT=${first} gives the ${names.length} processes the ports ${first} to ${last}, and ${name} cannot have ${own}: set another`,
      );
    }
  }
  return ports;
}

/** Why the fleet does not start, in one line for the operator. */
export class ClusterError extends Error {
  override name = "ClusterError";
}
