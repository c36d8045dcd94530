/** Counters in a real Redis Cluster: batches over several masters, slots on the move, and a master that dies. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RedisCluster } from "../../../scripts/services/redis.ts";
import type { Counters } from "../../../src/backing/counters.ts";
import { clusterSlot } from "../../../src/backing/redis/cluster-view.ts";
import { openDistributedCounters } from "../../../src/backing/redis/counters.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { describeCounters } from "../../contracts/counters.ts";
import { Customers } from "../../support/counters/customers.ts";
import { masterOf, moveSlot, openStore, openTestRedisCluster } from "../../support/counters/redis-cluster.ts";
import { openHarness } from "../../support/counters/redis.ts";
import { until } from "../../support/until.ts";

/** How soon after its replica was promoted a master's customers are served again. */
const healMsMax = 5_000;

const started = await openTestRedisCluster();

describe.skipIf(started === null)("counters in a Redis Cluster of three masters with a replica each", () => {
  const cluster = (): RedisCluster => {
    if (started === null) throw new Error("There is no cluster");
    return started;
  };
  let counters: Counters;
  beforeAll(async () => {
    counters = await openDistributedCounters({ url: new Secret(cluster().url), clock: systemClock, log: silentLog });
  });
  afterAll(async () => {
    await counters?.[Symbol.asyncDispose]();
    await started?.[Symbol.asyncDispose]();
  });

  describeCounters("the contract", () => openHarness({ url: cluster().url, ...openStore(cluster()) }));

  const functionCalls = (): Promise<number[]> =>
    Promise.all(
      cluster().masters.map(async ({ send }) => {
        return Number(/cmdstat_fcall:calls=(\d+)/.exec(String(await send("INFO", "commandstats")))?.[1] ?? 0);
      }),
    );

  test("a batch of 128 requests of as many workspaces, and its releases, are one call each for every master", async () => {
    const customers = new Customers({ counters, count: 128, creditFor: 2 });
    await customers.send(128);
    const before = await functionCalls();
    expect(await customers.send(128)).toEqual({ admitted: 128 });
    expect(await functionCalls()).toEqual(before.map((calls) => calls + 1));
    const resolve = customers.workspaces.map((workspace) => ({ workspace, generation: "gen-none", as: "void" as const }));
    await counters.resolveMany({ resolve, accounts: [], keyMonths: [] });
    expect(await functionCalls()).toEqual(before.map((calls) => calls + 2));
  });

  test("while a slot moves to another master nothing is admitted in it, others are served, and afterwards none is overdrawn", async () => {
    const customers = new Customers({ counters, count: 6, creditFor: 5 });
    const [workspace = "", ...others] = customers.workspaces;
    await customers.ask([workspace]);
    expect(await customers.ask([workspace])).toEqual({ admitted: 1 });
    await customers.ask(others);
    const slot = clusterSlot(workspace);
    const { masters } = cluster();
    const from = await masterOf(slot, masters);
    const to = masters.find((node) => node !== from) ?? from;
    const halfway = async () => {
      expect(await customers.ask([workspace, ...others])).toEqual({ unreachable: 1, admitted: 5 });
      expect(await customers.ask([workspace])).toEqual({ unreachable: 1 });
    };
    await moveSlot(slot, { from, to, halfway });
    await customers.spendAll();
    expect(customers.admitted).toEqual([5, 5, 5, 5, 5, 5]);
    expect(await customers.ask(customers.workspaces)).toEqual({ insufficient_credit: 6 });
  });

  test("when a master dies whose replica lacks its last writes, others are served, and after the promotion none is overdrawn", async () => {
    const customers = new Customers({ counters, count: 120, creditFor: 80 });
    await customers.send(120);
    const { masters, replicas } = cluster();
    const master = await masterOf(0, masters);
    const replica = replicas[masters.indexOf(master)] ?? master;
    expect(await customers.send(120)).toEqual({ admitted: 120 });
    await replica.server.kill("SIGSTOP");
    await master.send("CLIENT", "KILL", "TYPE", "replica");
    expect(await customers.send(120)).toEqual({ admitted: 120 });
    await master.server.kill("SIGKILL");
    await replica.server.kill("SIGCONT");

    const seen: Record<string, number> = {};
    let promotedAt = Infinity;
    const isPromoted = async () => /role:master/.test(String(await replica.send("INFO", "replication")));
    await until(async () => {
      const outcomes = await customers.send(20);
      for (const [outcome, count] of Object.entries(outcomes)) seen[outcome] = (seen[outcome] ?? 0) + count;
      if (promotedAt === Infinity && (await isPromoted())) promotedAt = performance.now();
      return promotedAt < Infinity && Object.keys(outcomes).join() === "admitted";
    }, 20_000);
    expect(performance.now() - promotedAt).toBeLessThan(healMsMax);
    expect(seen["admitted"]).toBeGreaterThan(60);
    expect(seen["unreachable"]).toBeGreaterThan(0);
    expect(seen).not.toHaveProperty("unavailable");

    await customers.spendAll();
    expect(customers.admitted).toEqual(Array.from({ length: 120 }, () => 80));
    expect(new Set(Object.keys(await customers.ask(customers.workspaces)))).toEqual(new Set(["insufficient_credit"]));
  }, 40_000);
});
