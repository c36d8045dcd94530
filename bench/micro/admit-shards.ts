/** Admissions of as many workspaces as requests, in one Redis and in clusters of one and of three masters, then their release. */
import { join } from "node:path";
import { RedisClient } from "bun";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startRedis, startRedisCluster } from "../../scripts/services/redis.ts";
import type { Server } from "../../scripts/services/server.ts";
import { openDistributedCounters } from "../../src/backing/redis/counters.ts";
import { monthOf, systemClock } from "../../src/kernel/clock.ts";
import { newWorkspaceId } from "../../src/kernel/ids.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { dataFolder } from "../paths.ts";
import { usageOf } from "../processes/usage.ts";
import { admitAndRelease, admitRequest, balance } from "./admission.ts";
import type { Case, Microbenchmark } from "./benchmark.ts";

const counts = [4, 16, 128];
const workspaces = 1_000;
const countedMessages = 50;
const key = "key-1";

export interface ShardCase extends Case {
  masters: number;
  isCluster: boolean;
  /** Runs some messages. @returns how many calls of Redis a message made, on average, without its releases */
  callsOfMessage(): Promise<number>;
}

export const admitShards: Microbenchmark = { unit: "request", prepare: prepareShards };

/** @throws Error when a server is missing */
export async function prepareShards(stack: AsyncDisposableStack): Promise<ShardCase[]> {
  const servers = await findServers();
  if ("missing" in servers) throw new Error(`Cannot start Redis: ${servers.missing}`);
  const folder = (name: string) => join(dataFolder, "micro", `${name}-${Date.now()}`);
  const program = servers.redis;
  const one = stack.use(await startRedis({ program, folder: folder("redis") }));
  const cases = await casesOf({ isCluster: false, url: one.url, servers: [one] }, stack);
  for (const masters of [1, 3]) {
    const options = { program, masters, hasReplicas: false, nodeTimeoutMs: 5_000 };
    const cluster = stack.use(await startRedisCluster({ ...options, folder: folder(`redis-cluster-${masters}`) }));
    const nodes = { isCluster: true, url: cluster.url, servers: cluster.masters.map(({ server }) => server) };
    cases.push(...(await casesOf(nodes, stack)));
  }
  return cases;
}

interface Nodes {
  isCluster: boolean;
  url: string;
  servers: Server[];
}

async function casesOf({ isCluster, url, servers }: Nodes, stack: AsyncDisposableStack): Promise<ShardCase[]> {
  const counters = stack.use(await openDistributedCounters({ url: new Secret(url), clock: systemClock, log: silentLog }));
  const month = monthOf(Date.now());
  const ids = Array.from({ length: workspaces }, () => newWorkspaceId(Date.now()));
  for (const workspace of ids) {
    const account = { workspace, balance, sequence: 1n, months: [{ month, spent: 0n }] };
    await counters.load({ account, holds: [], windows: [] });
  }
  const keyMonths = ids.map((workspace) => ({ workspace, key, month, spent: 0n, version: 1n, sequence: 1n }));
  await counters.resolveMany({ resolve: [], accounts: [], keyMonths });
  const masters = servers.length;
  const name = isCluster ? `a cluster of ${masters}` : "one Redis";
  let turn = 0;
  return counts.map((count) => {
    const call = async (): Promise<void> => {
      const requests = Array.from({ length: count }, () => admitRequest(ids[turn++ % workspaces] ?? "", key));
      await admitAndRelease(counters, month, requests);
    };
    return {
      name: `${name}, ${count} a message`,
      masters,
      isCluster,
      units: count,
      othersCpuSeconds: () => servers.reduce((sum, { pid }) => sum + usageOf(pid).cpuSeconds, 0),
      call,
      async callsOfMessage() {
        const before = await functionCalls(servers);
        for (let n = 0; n < countedMessages; n++) await call();
        return ((await functionCalls(servers)) - before) / countedMessages / 2;
      },
    };
  });
}

/** How many functions these servers ran so far, as they count them. */
async function functionCalls(servers: Server[]): Promise<number> {
  const counts = servers.map(async ({ url }) => {
    const client = new RedisClient(url, { autoReconnect: false });
    try {
      const text = String(await client.send("INFO", ["commandstats"]));
      return Number(/cmdstat_fcall:calls=(\d+)/.exec(text)?.[1] ?? 0);
    } finally {
      client.close();
    }
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
