/** Charges for generations whose gateway died. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { progressRefreshMs, progressMs } from "../../../src/gateway/limits.ts";
import { settled } from "../../support/clock.ts";
import { reservation } from "../../support/gateway/intents.ts";
import { TestJournals } from "../../support/gateway/test-journals.ts";
import { canFillDisk, withDiskFullAt } from "../../support/processes/full-disk.ts";

let journals: TestJournals;
beforeEach(async () => {
  journals = await TestJournals.make();
});
afterEach(() => journals[Symbol.asyncDispose]());

const facts = { fingerprint: "f0", model: "acme/one", streamed: false };

describe("the recovery of a dead gateway's generations", () => {
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

  test("the successor charges the prompt and the tokens delivered until the last second", async () => {
    const killed = journals.open();
    const [tracked, untracked] = [reservation(), reservation()];
    killed.begin(tracked, { ...facts, streamed: true, owed, endpoint: "completions" });
    killed.begin(untracked, { ...facts, streamed: true, owed });
    await settled();
    killed.progress.track(tracked.generation, owed.promptTokens, () => soFar);
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    expect(journals.open().recover()).toMatchObject({ settled: 0, interrupted: 2, unknown: 0 });
    expect(await journals.published()).toMatchObject(
      [
        {
          generation: tracked.generation,
          endpoint: "completions",
          usage: { promptTokens: 50_000, cachedTokens: 40_000, cacheWriteTokens: 5, completionTokens: 299 },
        },
        { generation: untracked.generation, usage: { promptTokens: 50_000, completionTokens: 0 } },
      ].map((charge) => ({ ...charge, outcome: "settled", usageEstimated: true, provider: "acme", prices, status: 500 })),
    );
  });

  test("the successor charges the model that was called last, and logs the requested one", async () => {
    const killed = journals.open();
    const [same, fallback, skipped] = [reservation(), reservation(), reservation()];
    for (const begun of [same, fallback]) killed.begin(begun, { ...facts, owed });
    killed.begin(skipped, { ...facts, model: "acme/two", requested: "acme/one", owed });
    await settled();
    const second = { provider: "acme", model: "acme/two", prices: { ...prices, output: "7" } };
    killed.progress.track(fallback.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, route: null }));
    journals.clock.advance(progressMs);
    killed.progress.track(fallback.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, route: second }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    journals.open().recover();
    const published = await journals.published();
    const of = ({ generation }: { generation: string }) => published.find((one) => one.generation === generation);
    expect(of(same)).toMatchObject({ model: "acme/one", prices });
    expect(of(same)?.routing).toBeUndefined();
    const routing = { requested: "acme/one", attempts: [] };
    expect(of(fallback)).toMatchObject({ model: "acme/two", provider: "acme", prices: second.prices, routing });
    expect(of(skipped)).toMatchObject({ model: "acme/two", prices, routing });
  });

  test("the successor charges the tier that the prompt reached, by the provider's count where a line has it", async () => {
    const killed = journals.open();
    const high = { input: "9", output: "8", cacheRead: "7", cacheWrite: "6" };
    const tiers = [{ aboveInputTokens: 49_999, ...high }];
    const [counted, estimated, within] = [reservation(), reservation(), reservation()];
    killed.begin(counted, { ...facts, owed: { ...owed, tiers, promptTokens: 10 } });
    killed.begin(estimated, { ...facts, owed: { ...owed, tiers } });
    killed.begin(within, { ...facts, owed: { ...owed, tiers } });
    await settled();
    killed.progress.track(counted.generation, owed.promptTokens, () => soFar);
    killed.progress.track(within.generation, owed.promptTokens, () => ({ ...soFar, promptTokens: 49_999 }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    journals.open().recover();
    const charges = await journals.published();
    expect(charges.map(({ generation, tierAboveTokens }) => [generation, tierAboveTokens])).toEqual([
      [counted.generation, 49_999],
      [estimated.generation, 49_999],
      [within.generation, undefined],
    ]);
    expect(charges.map((charge) => charge.prices)).toEqual([high, high, prices]);
  });

  test("the successor charges nothing for a workspace's own key, and notes what it would have cost", async () => {
    const killed = journals.open();
    const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
    const [plain, moved] = [reservation(), reservation()];
    killed.begin(plain, { ...facts, owed: { ...owed, prices: free, ownKey: { id: "own-1", prices } } });
    killed.begin(moved, { ...facts, owed: { ...owed, prices: free, ownKey: { id: "own-1", prices } } });
    await settled();
    killed.progress.track(plain.generation, owed.promptTokens, () => soFar);
    killed.progress.track(moved.generation, owed.promptTokens, () => ({ ...soFar, route: { provider: "other", prices } }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    journals.open().recover();
    const [first, second] = await journals.published();
    // 9,995 of 1,000 nano-USD, 40,000 of 100, 5 of 1,000, and 299 of 10,000.
    expect(first).toMatchObject({ prices: free, ownKey: { id: "own-1", listCost: "16990000" } });
    expect(second).toMatchObject({ provider: "other", prices });
    expect(second?.ownKey).toBeUndefined();
  });

  test("the successor charges the route that was called last, however soon the gateway died", async () => {
    const killed = journals.open();
    const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
    const [fallback, refused] = [reservation(), reservation()];
    killed.begin(fallback, { ...facts, owed: { ...owed, prices: free, ownKey: { id: "own-1", prices } } });
    killed.begin(refused, { ...facts, owed });
    await settled();
    killed.progress.track(fallback.generation, owed.promptTokens, () => ({ ...soFar, route: { provider: "other", prices } }));
    killed.progress.track(refused.generation, owed.promptTokens, () => ({
      ...soFar,
      route: { provider: "own", prices: free, ownKey: { id: "own-2", prices } },
    }));
    for (const { generation } of [fallback, refused]) killed.progress.noteRoute(generation);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    journals.open().recover();
    const [first, second] = await journals.published();
    expect(first).toMatchObject({ provider: "other", prices });
    expect(first).not.toHaveProperty("ownKey");
    expect(second).toMatchObject({ provider: "own", prices: free, ownKey: { id: "own-2" } });
  });

  test.skipIf(!canFillDisk)("another route is not called while it cannot be recorded", async () => {
    const journal = journals.open();
    const begun = reservation();
    journal.begin(begun, { ...facts, owed });
    await settled();
    journal.progress.track(begun.generation, owed.promptTokens, () => ({ ...soFar, route: { provider: "other", prices } }));
    withDiskFullAt(0, () => expect(() => journal.progress.noteRoute(begun.generation)).toThrow("Credit cannot be checked"));
  });

  test("a second route without tiers is charged without those of the first", async () => {
    const killed = journals.open();
    const begun = reservation();
    killed.begin(begun, { ...facts, owed: { ...owed, tiers: [{ aboveInputTokens: 1, ...prices, output: "8" }] } });
    await settled();
    killed.progress.track(begun.generation, owed.promptTokens, () => ({ ...soFar, route: { provider: "other", prices } }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    journals.open().recover();
    const [charge] = await journals.published();
    expect(charge).toMatchObject({ generation: begun.generation, provider: "other", prices });
    expect(charge).not.toHaveProperty("tierAboveTokens");
  });

  test("the successor charges nothing for an unsent request, and the second route's prices if that route served", async () => {
    const killed = journals.open();
    const [unsent, elsewhere] = [reservation(), reservation()];
    for (const begun of [unsent, elsewhere]) killed.begin(begun, { ...facts, owed });
    await settled();
    const other = { provider: "other", prices: { ...prices, output: "7" } };
    killed.progress.track(unsent.generation, owed.promptTokens, () => ({ ...soFar, sent: false }));
    killed.progress.track(elsewhere.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, route: other }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    expect(journals.open().recover()).toMatchObject({ interrupted: 1, unknown: 1 });
    expect(await journals.published()).toMatchObject([
      { generation: unsent.generation, outcome: "unknown", usage: { promptTokens: 0 } },
      { generation: elsewhere.generation, outcome: "settled", ...other },
    ]);
  });

  test("a request that waits for a connection is free as soon as it waits, and owed as soon as it is sent", async () => {
    const killed = journals.open();
    const [waiting, sent] = [reservation(), reservation()];
    for (const begun of [waiting, sent]) killed.begin(begun, { ...facts, owed });
    await settled();
    let isSent = false;
    killed.progress.track(waiting.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, sent: false }));
    killed.progress.track(sent.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, sent: isSent }));
    for (const { generation } of [waiting, sent]) killed.progress.noteUnsent(generation);
    isSent = true;
    killed.progress.noteSent(sent.generation);
    killed[Symbol.dispose]();

    // No time has passed, and so no line was written that comes once a second.
    expect(journals.open().recover()).toMatchObject({ interrupted: 1, unknown: 1 });
    expect(await journals.published()).toMatchObject([
      { generation: waiting.generation, outcome: "unknown" },
      { generation: sent.generation, outcome: "settled", usage: { promptTokens: 50_000 } },
    ]);
  });

  test.skipIf(!canFillDisk)(
    "a request that waited for a connection does not leave while it cannot be noted as owed",
    async () => {
      const killed = journals.open();
      const begun = reservation();
      killed.begin(begun, { ...facts, owed });
      await settled();
      let sent = false;
      killed.progress.track(begun.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, sent }));
      killed.progress.noteUnsent(begun.generation);
      sent = true;
      withDiskFullAt(0, () => {
        expect(() => killed.progress.noteSent(begun.generation)).toThrow(
          expect.objectContaining({ code: "billing_unavailable" }),
        );
      });
      killed[Symbol.dispose]();

      expect(journals.open().recover()).toMatchObject({ interrupted: 0, unknown: 1 });
    },
  );

  test("the successor charges the prompt that the provider told before the first text", async () => {
    const killed = journals.open();
    const begun = reservation();
    killed.begin(begun, { ...facts, owed });
    await settled();
    killed.progress.track(begun.generation, owed.promptTokens, () => ({ ...soFar, promptTokens: 2_000, completionTokens: 0 }));
    journals.clock.advance(progressMs);
    killed[Symbol.dispose]();

    journals.open().recover();
    expect(await journals.published()).toMatchObject([{ usage: { promptTokens: 2_000, completionTokens: 0 } }]);
  });

  test.skipIf(!canFillDisk)(
    "the successor charges a request that was sent while the disk was full, despite an earlier line",
    async () => {
      const killed = journals.open();
      const begun = reservation();
      killed.begin(begun, { ...facts, owed });
      await settled();
      let sent = false;
      killed.progress.track(begun.generation, owed.promptTokens, () => ({ ...soFar, completionTokens: 0, sent }));
      journals.clock.advance(progressMs);
      sent = true;
      withDiskFullAt(0, () => journals.clock.advance(progressMs));
      journals.clock.advance(progressMs);
      killed[Symbol.dispose]();

      expect(journals.open().recover()).toMatchObject({ interrupted: 1, unknown: 0 });
    },
  );

  test("the journal repeats an open generation's unchanged progress, since old segments are deleted", async () => {
    const killed = journals.open();
    const begun = reservation();
    killed.begin(begun, { ...facts, owed });
    await settled();
    let read = 0;
    killed.progress.track(begun.generation, owed.promptTokens, () => (read++, soFar));
    for (let passed = 0; passed < 2 * progressRefreshMs; passed += progressMs) journals.clock.advance(progressMs);
    const lines = readFileSync(join(journals.path, readdirSync(journals.path)[0] ?? ""), "utf8").match(/"progress"/g) ?? [];
    expect(read).toBeGreaterThan(60);
    expect(lines.length / 2).toBe(2);
  });
});
