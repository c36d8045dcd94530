/** What is charged for a generation whose gateway died with it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { progressRefreshMs, progressMs } from "../../../src/gateway/limits.ts";
import { TestJournals } from "../../support/gateway/test-journals.ts";
import { settled } from "../../support/clock.ts";
import { canFillDisk, withDiskFullAt } from "../../support/processes/full-disk.ts";
import { reservation } from "../../support/gateway/intents.ts";

let journals: TestJournals;
beforeEach(async () => {
  journals = await TestJournals.make();
});
afterEach(() => journals[Symbol.asyncDispose]());

const facts = { fingerprint: "f0", model: "acme/one", streamed: false };

describe("a gateway that died", () => {
  const prices = { input: "1000000", output: "10000000", cacheRead: "100000", cacheWrite: "1000000" };
  const owed = { provider: "acme", prices, promptTokens: 50_000 };
  const soFar = {
    sent: true,
    promptTokens: 50_000,
    cachedTokens: 40_000,
    cacheWriteTokens: 5,
    completionTokens: 299,
    route: null,
  };

  test("charges prompt and delivered for what its gateway died with, as of a second before", async () => {
    const killed = journals.open();
    const [told, untold] = [reservation(), reservation()];
    for (const begun of [told, untold]) killed.begin(begun, { ...facts, streamed: true, owed });
    await settled();
    killed.track(told.generation, () => soFar);
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    expect(journals.open().recover()).toMatchObject({ settled: 0, interrupted: 2, unknown: 0 });
    expect(await journals.published()).toMatchObject(
      [
        {
          generation: told.generation,
          usage: { promptTokens: 50_000, cachedTokens: 40_000, cacheWriteTokens: 5, completionTokens: 299 },
        },
        { generation: untold.generation, usage: { promptTokens: 50_000, completionTokens: 0 } },
      ].map((charge) => ({ ...charge, outcome: "settled", usageEstimated: true, provider: "acme", prices, status: 500 })),
    );
  });

  test("charges nothing for a request that was not sent, and the second route's prices where that one served", async () => {
    const killed = journals.open();
    const [unsent, elsewhere] = [reservation(), reservation()];
    for (const begun of [unsent, elsewhere]) killed.begin(begun, { ...facts, owed });
    await settled();
    const other = { provider: "other", prices: { ...prices, output: "7" } };
    killed.track(unsent.generation, () => ({ ...soFar, sent: false }));
    killed.track(elsewhere.generation, () => ({ ...soFar, completionTokens: 0, route: other }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    expect(journals.open().recover()).toMatchObject({ interrupted: 1, unknown: 1 });
    expect(await journals.published()).toMatchObject([
      { generation: unsent.generation, outcome: "unknown", usage: { promptTokens: 0 } },
      { generation: elsewhere.generation, outcome: "settled", ...other },
    ]);
  });

  test.skipIf(!canFillDisk)(
    "charges what was sent while the disk was full, where a line from before says that it was not",
    async () => {
      const killed = journals.open();
      const begun = reservation();
      killed.begin(begun, { ...facts, owed });
      await settled();
      let sent = false;
      killed.track(begun.generation, () => ({ ...soFar, completionTokens: 0, sent }));
      journals.clock.advance(progressMs);
      sent = true;
      withDiskFullAt(0, () => journals.clock.advance(progressMs));
      journals.clock.advance(progressMs);
      killed[Symbol.dispose]();

      expect(journals.open().recover()).toMatchObject({ interrupted: 1, unknown: 0 });
    },
  );

  test("is told of a generation again while it is open, though nothing of it changes: old segments are removed", async () => {
    const killed = journals.open();
    const begun = reservation();
    killed.begin(begun, { ...facts, owed });
    await settled();
    let read = 0;
    killed.track(begun.generation, () => (read++, soFar));
    for (let passed = 0; passed < 2 * progressRefreshMs; passed += progressMs) journals.clock.advance(progressMs);
    const lines = readFileSync(join(journals.path, "0000000001.jsonl"), "utf8").match(/"progress"/g) ?? [];
    expect(read).toBeGreaterThan(60);
    expect(lines.length / 2).toBe(2);
  });
});
