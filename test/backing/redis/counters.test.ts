import { afterAll, describe } from "bun:test";
import { describeCounters } from "../../contracts/counters.ts";
import { openRedisHarness } from "../../support/counters/redis.ts";
import { openTestRedis } from "../../support/servers/redis.ts";

const server = await openTestRedis();

describe.skipIf(server === null)("on a server of its own", () => {
  afterAll(() => server?.stop());
  describeCounters("counters in Redis", () => openRedisHarness(server?.url ?? ""));
});
