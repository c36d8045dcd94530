import { afterAll, beforeAll, describe, test } from "bun:test";
import fc from "fast-check";
import type { CountersHarness } from "../support/counters/harness.ts";
import { command } from "../support/counters/commands.ts";
import { openEmbeddedHarness } from "../support/counters/embedded.ts";
import { History } from "../support/counters/history.ts";
import { openRedisHarness } from "../support/counters/redis.ts";
import { openTestRedis } from "../support/servers/redis.ts";

const commandsPerRun = 40;
const server = await openTestRedis();

describe("whatever happens to counters, in whatever order", () => {
  const stores: CountersHarness[] = [];
  beforeAll(async () => {
    stores.push(await openEmbeddedHarness());
    if (server) stores.push(await openRedisHarness(server.url));
  }, 60_000);
  afterAll(async () => {
    for (const store of stores) await store[Symbol.asyncDispose]();
    await server?.stop();
  });

  test("Maps and Redis decide alike, as the specification words it, and neither loses or makes money", async () => {
    const run = fc.asyncProperty(
      fc.array(command, { minLength: 1, maxLength: commandsPerRun, size: "max" }),
      async (commands) => {
        const history = new History(stores);
        await history.begin();
        for (const one of commands) await history.play(one);
        await history.end();
      },
    );
    await fc.assert(run, { numRuns: 100 });
  }, 120_000);
});
