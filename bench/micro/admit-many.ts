/** The atomic decision: rate window, key, month, credit and hold of several requests in one call, then their release. */
import { join } from "node:path";
import { findServers } from "../../scripts/services/find-servers.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { openDistributedCounters } from "../../src/backing/redis/counters.ts";
import { EmbeddedCounters } from "../../src/backing/embedded/counters.ts";
import type { Counters } from "../../src/backing/counters.ts";
import { monthOf, systemClock } from "../../src/kernel/clock.ts";
import { newWorkspaceId } from "../../src/kernel/ids.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { Secret } from "../../src/kernel/secret.ts";
import { dataFolder } from "../paths.ts";
import { admitAndRelease, admitRequest, balance } from "./admission.ts";
import type { Case, Microbenchmark } from "./benchmark.ts";

const counts = [1, 16, 128];
/** Enough keys that none reaches its limit of requests per minute. */
const keys = 200;

export const admitMany: Microbenchmark = {
  unit: "request",
  async prepare(stack) {
    const servers = await findServers();
    if ("missing" in servers) throw new Error(`Cannot start Redis: ${servers.missing}`);
    const redis = stack.use(await startRedis({ program: servers.redis, folder: join(dataFolder, "micro/redis") }));
    const distributed = stack.use(
      await openDistributedCounters({ url: new Secret(redis.url), clock: systemClock, log: silentLog }),
    );
    return [
      ...(await casesOf("Redis", distributed)),
      ...(await casesOf("in memory", stack.use(new EmbeddedCounters(systemClock)))),
    ];
  },
};

async function casesOf(name: string, counters: Counters): Promise<Case[]> {
  const workspace = newWorkspaceId(Date.now());
  const month = monthOf(Date.now());
  const begun = await counters.beginLoad(workspace);
  const account = { workspace, balance, sequence: 1n, months: [{ month, spent: 0n }] };
  await counters.load({ ...(begun === null ? {} : { begun }), account, holds: [], windows: [] });
  const keyIds = Array.from({ length: keys }, (_, n) => `key-${n}`);
  const keyMonths = keyIds.map((key) => ({ workspace, key, month, spent: 0n, version: 1n, sequence: 1n }));
  await counters.resolveMany({ resolve: [], accounts: [account], keyMonths });
  let turn = 0;
  const request = () => admitRequest(workspace, keyIds[turn++ % keys] ?? "");
  return counts.map((count) => {
    const call = async () => {
      const requests = Array.from({ length: count }, request);
      await admitAndRelease(counters, month, requests);
    };
    return { name: `${name}, ${count} a call, and released`, units: count, call };
  });
}
