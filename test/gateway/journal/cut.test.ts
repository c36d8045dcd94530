/** What is charged for a generation whose gateway died with it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { progressKeptMs, progressMs } from "../../../src/gateway/limits.ts";
import { Books } from "../../support/books.ts";
import { settled } from "../../support/clock.ts";
import { canFillDisk, withDiskFullAt } from "../../support/full-disk.ts";
import { reservation } from "../../support/intents.ts";

let books: Books;
beforeEach(async () => {
  books = await Books.make();
});
afterEach(() => books[Symbol.asyncDispose]());

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
    const killed = books.open();
    const [told, untold] = [reservation(), reservation()];
    for (const begun of [told, untold]) killed.begin(begun, { ...facts, streamed: true, owed });
    await settled();
    killed.follow(told.generation, () => soFar);
    books.clock.advance(progressMs);
    killed[Symbol.dispose]();
    books.bus.stored = [];

    expect(books.open().recover()).toMatchObject({ settled: 0, cut: 2, unknown: 0 });
    expect(await books.published()).toMatchObject(
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
    const killed = books.open();
    const [unsent, elsewhere] = [reservation(), reservation()];
    for (const begun of [unsent, elsewhere]) killed.begin(begun, { ...facts, owed });
    await settled();
    const other = { provider: "other", prices: { ...prices, output: "7" } };
    killed.follow(unsent.generation, () => ({ ...soFar, sent: false }));
    killed.follow(elsewhere.generation, () => ({ ...soFar, completionTokens: 0, route: other }));
    books.clock.advance(progressMs);
    killed[Symbol.dispose]();
    books.bus.stored = [];

    expect(books.open().recover()).toMatchObject({ cut: 1, unknown: 1 });
    expect(await books.published()).toMatchObject([
      { generation: unsent.generation, outcome: "unknown", usage: { promptTokens: 0 } },
      { generation: elsewhere.generation, outcome: "settled", ...other },
    ]);
  });

  test.skipIf(!canFillDisk)(
    "charges what was sent while the disk was full, where a line from before says that it was not",
    async () => {
      const killed = books.open();
      const begun = reservation();
      killed.begin(begun, { ...facts, owed });
      await settled();
      let sent = false;
      killed.follow(begun.generation, () => ({ ...soFar, completionTokens: 0, sent }));
      books.clock.advance(progressMs);
      sent = true;
      withDiskFullAt(0, () => books.clock.advance(progressMs));
      books.clock.advance(progressMs);
      killed[Symbol.dispose]();

      expect(books.open().recover()).toMatchObject({ cut: 1, unknown: 0 });
    },
  );

  test("is told of a generation again while it is open, though nothing of it changes: old segments are removed", async () => {
    const killed = books.open();
    const begun = reservation();
    killed.begin(begun, { ...facts, owed });
    await settled();
    let read = 0;
    killed.follow(begun.generation, () => (read++, soFar));
    for (let passed = 0; passed < 2 * progressKeptMs; passed += progressMs) books.clock.advance(progressMs);
    const lines = readFileSync(join(books.path, "0000000001.jsonl"), "utf8").match(/"progress"/g) ?? [];
    expect(read).toBeGreaterThan(60);
    expect(lines.length / 2).toBe(2);
  });
});
