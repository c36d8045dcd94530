import { isFree } from "../services/free-port.ts";
import { ClusterError } from "./cluster-error.ts";

const portMax = 65_535;

export interface MetricsPlan {
  /** Of the first process, which is a gateway; null: none has one. */
  first: number | null;
  host: string;
  /** Of the gateways, which share it. */
  port: number;
  /** Every process, in the order in which ports are given. */
  names: readonly string[];
}

/**
 * One port cannot show the metrics of several processes: each has its own, from the first on, and keeps it over restarts.
 * @throws ClusterError naming the one that cannot be had
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
