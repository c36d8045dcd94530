/**
 * Measures what distance between gateways and workers costs: gateways on one host, workers and the three servers on another, with 0,
 * 1 and 20 ms there and back between them. The hosts are network namespaces of this machine.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { HostsMeasurement, NearPlan } from "../hosts/near-host.ts";
import { on, TwoHosts } from "../hosts/two-hosts.ts";
import { dataFolder, root } from "../paths.ts";
import { inherited } from "../processes/child.ts";
import { median } from "../measure/median.ts";
import { shown, table } from "../report/table.ts";

export interface HostsPlan {
  gateways: number;
  workers: number;
  rounds: number;
  seconds: number;
  say(line: string): void;
}

export interface Hosts {
  measurements: HostsMeasurement[];
}

const distancesMs = [0, 1, 20];
const connections = [1, 32, 128];

/** @returns why it was left out, where hosts cannot be made on this machine */
export async function runHosts({ gateways, workers, rounds, seconds, say }: HostsPlan): Promise<Hosts | { leftOut: string }> {
  let hosts: TwoHosts;
  try {
    hosts = new TwoHosts();
  } catch (error) {
    return { leftOut: `hosts was left out: ${error instanceof Error ? error.message : String(error)}` };
  }
  using _removed = hosts;
  const folder = join(dataFolder, "hosts");
  rmSync(folder, { recursive: true, force: true });
  const { near, far, farAddress: address } = hosts;
  const plan: NearPlan = { far, address, folder, gateways, workers, rounds, seconds, distancesMs, connections };
  say(`two hosts: ${near} and ${far}`);
  const [program = "", ...words] = [...on(near), process.execPath, "bench/hosts/near-host.ts", JSON.stringify(plan)];
  const child = spawn(program, words, { cwd: root, env: inherited(), stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
  if (child.exitCode !== 0) throw new Error(`The near host ended with ${child.exitCode ?? child.signalCode}`);
  const measurements = JSON.parse(printed) as HostsMeasurement[];
  console.log(hostsTable(measurements));
  return { measurements };
}

/** The median over all rounds. Ratios are those to the shortest distance within a round. */
export function hostsTable(measurements: HostsMeasurement[]): string {
  const cases = [...Map.groupBy(measurements, ({ distanceMs, connections: many }) => `${many}/${distanceMs}`).values()];
  const lines = cases
    .flatMap((rounds) => (rounds[0] === undefined ? [] : [{ ...rounds[0], rounds }]))
    .toSorted((one, other) => one.connections - other.connections || one.distanceMs - other.distanceMs)
    .map(({ connections: many, distanceMs, rounds }) => {
      const middle = (of: (one: HostsMeasurement) => number) => median(rounds.map(of));
      const ratio = middle((one) => one.measurement.result.perSecond / shortest(one, measurements).measurement.result.perSecond);
      const figures = [
        middle(({ measurement }) => measurement.result.perSecond),
        ratio,
        middle(({ measurement }) => measurement.result.latencyMs?.p50 ?? Number.NaN),
        middle(({ measurement }) => measurement.result.latencyMs?.p99 ?? Number.NaN),
      ];
      return [String(many), `${distanceMs} ms`, ...figures.map(shown)];
    });
  return table(["in flight", "there and back", "requests/s", "÷ that at 0 ms", "p50 ms", "p99 ms"], lines);
}

function shortest({ connections: many, measurement }: HostsMeasurement, all: HostsMeasurement[]): HostsMeasurement {
  const same = all.filter((one) => one.connections === many && one.measurement.round === measurement.round);
  const [first] = same.toSorted((one, other) => one.distanceMs - other.distanceMs);
  if (first === undefined) throw new Error("There is no measurement");
  return first;
}
