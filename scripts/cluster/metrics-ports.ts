import { isFree } from "../services/free-port.ts";
import { ClusterError } from "./cluster-error.ts";

const portMax = 65_535;

export interface MetricsPlan {
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
