import { afterAll, describe } from "bun:test";
import { describeCounters } from "../../contracts/counters.ts";
import { openRedisHarness } from "../../support/counters/redis.ts";
import { openTestRedis } from "../../support/servers/redis.ts";

for (const [name, cluster] of [
  ["counters in Redis", false],
  ["counters in a Redis Cluster", true],
] as const) {
  const server = await openTestRedis({ cluster });
  describe.skipIf(server === null)("on a server of its own", () => {
    afterAll(() => server?.stop());
    describeCounters(name, () => openRedisHarness(server?.url ?? ""));
  });
}
