import { afterAll, describe } from "bun:test";
import { redisLibraries } from "../../../src/backing/redis/counters.ts";
import { describeCounters } from "../../contracts/counters.ts";
import { openRedisHarness } from "../../support/counters/redis.ts";
import { openTestRedis } from "../../support/servers/redis.ts";

const server = await openTestRedis();

describe.skipIf(server === null)("on a server of its own", () => {
  afterAll(() => server?.stop());
  for (const library of redisLibraries) {
    describeCounters(`counters in Redis, by the client "${library}"`, () => openRedisHarness(server?.url ?? "", library));
  }
});
