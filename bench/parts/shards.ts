/** What an admission and its release cost in one Redis and in Redis Clusters: CPU time, calls and the rate of one client. */
import { prepareShards } from "../micro/admit-shards.ts";
import { timeCase } from "../micro/run.ts";

export interface ShardMeasurement {
  /** One master is a single Redis, or a cluster of one. */
  masters: number;
  isCluster: boolean;
  /** The number of requests in a message, each of another workspace. */
  requests: number;
  /** How many calls of Redis a message makes, on average; its releases make as many again. */
  calls: number;
  /** CPU microseconds of all servers for a request and its release. */
  cpuMicros: number;
  /** Requests a second of one client, which shares the cores with the servers. */
  perSecond: number;
}

export interface Shards {
  measurements: ShardMeasurement[];
}

export interface ShardsPlan {
  rounds: number;
  say(line: string): void;
}

export async function runShards({ rounds, say }: ShardsPlan): Promise<Shards> {
  await using stack = new AsyncDisposableStack();
  say("starting one Redis and clusters of one and of three masters");
  const cases = await prepareShards(stack);
  const measurements: ShardMeasurement[] = [];
  for (let round = 1; round <= rounds; round++) {
    for (const one of round % 2 === 1 ? cases : cases.toReversed()) {
      const { masters, isCluster, units: requests } = one;
      const { median, othersCpu } = await timeCase(one);
      const calls = await one.callsOfMessage();
      measurements.push({ masters, isCluster, requests, calls, cpuMicros: othersCpu, perSecond: 1_000_000 / median });
      say(`round ${round}/${rounds}: ${one.name}: ${othersCpu.toFixed(1)} µs a request, ${calls.toFixed(2)} calls a message`);
    }
  }
  return { measurements };
}
