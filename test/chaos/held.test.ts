/** Redis's append-only file contains every reservation, even after its release and after Redis died. */
import { expect, test } from "bun:test";
import { startRedis } from "../../scripts/services/redis.ts";
import { openDistributedCounters } from "../../src/backing/redis/counters.ts";
import { monthOf, systemClock } from "../../src/kernel/clock.ts";
import { newGenerationId } from "../../src/kernel/ids.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { connectClient } from "../support/counters/redis.ts";
import { temporaryFolder, testServers } from "../support/servers/services.ts";
import { HeldGenerations } from "./harness/checks/held-generations.ts";

const servers = await testServers();

test.skipIf(servers === null)(
  "the file contains a reserved generation after its release, after FLUSHALL and after a kill",
  async () => {
    if (servers === null) throw new Error("There are no servers");
    await using stack = new AsyncDisposableStack();
    const folder = await temporaryFolder("held");
    const redis = stack.use(await startRedis({ program: servers.redis, folder }));
    const url = new Secret(redis.url);
    const counters = stack.use(await openDistributedCounters({ url, clock: systemClock, log: silentLog }));
    const month = monthOf(systemClock.now());
    const account = { workspace: "w1", balance: 100n, sequence: 1n, months: [{ month, spent: 0n }] };
    await counters.load({ account, holds: [], windows: [] });
    const keyMonths = [{ workspace: "w1", key: "k1", month, spent: 0n, version: 1n, sequence: 1n }];
    await counters.resolveMany({ resolve: [], accounts: [], keyMonths });
    const [held, refused] = [newGenerationId(1), newGenerationId(2)];
    const ask = (generation: string, amount: bigint) => ({
      generation,
      workspace: "w1",
      key: "k1",
      fingerprint: "f0",
      requestsPerMinute: 60,
      amount,
      keyLimit: null,
      workspaceLimit: null,
      modelRefusal: null,
      deadline: null,
    });
    const { replies } = await counters.admitMany({ month, requests: [ask(held, 60n), ask(refused, 60n)] });
    expect(replies.map(({ outcome }) => outcome)).toEqual(["admitted", "insufficient_credit"]);
    await counters.resolveMany({ resolve: [{ workspace: "w1", generation: held, as: "void" }], accounts: [], keyMonths: [] });
    const client = await connectClient(redis.url);
    await client.flushAll();
    client.destroy();
    await redis.kill("SIGKILL");
    expect([...new HeldGenerations(folder).read()]).toEqual([held]);
  },
);
