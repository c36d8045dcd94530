import { afterAll, describe } from "bun:test";
import { redisLibraries } from "../../../src/backing/redis/connection/load-client.ts";
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
    for (const library of redisLibraries) {
      describeCounters(`${name}, by the client "${library}"`, () => openRedisHarness(server?.url ?? "", library));
    }
  });
}
