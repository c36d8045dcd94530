import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { decodeOpenReport, encodeOpenQuestion, type OpenReport } from "../../../src/gateway/journal/open-report.ts";
import { decodeSettlements, encodeSettled } from "../../../src/gateway/journal/settlement-codec.ts";
import { GatewayError } from "../../../src/kernel/errors.ts";
import { holdMs } from "../../../src/backing/limits.ts";
import { settlementPauseMs, unsettledMax } from "../../../src/gateway/limits.ts";
import { Books } from "../../support/books.ts";
import { settled } from "../../support/clock.ts";
import { endOf } from "../../support/fronts.ts";
import { failureOf } from "../../support/failure-of.ts";
import { canFillDisk, withDiskFullAt } from "../../support/full-disk.ts";
import { reservation } from "../../support/intents.ts";

let books: Books;
beforeEach(async () => {
  books = await Books.make();
});
afterEach(() => books[Symbol.asyncDispose]());

const facts = { fingerprint: "f0", model: "acme/one", streamed: false };
const usage = { promptTokens: 10, completionTokens: 5 };

async function reports(workspace = "ws-1"): Promise<OpenReport> {
  const all = (await books.bus.scatter("open-generations", encodeOpenQuestion({ workspace }))).map(decodeOpenReport);
  return { holds: all.flatMap(({ holds }) => holds), windows: all.flatMap(({ windows }) => windows) };
}

async function confirmAll(): Promise<void> {
  await books.clock.pass(settlementPauseMs);
  books.bus.broadcast(
    "settled",
    encodeSettled(books.bus.stored.splice(0).map(({ payload }) => decodeSettlements(payload).batch)),
  );
}

describe("the book of generations", () => {
  test("reports as open what was begun until the ledger confirmed it, and to the workspace that asks", async () => {
    const book = books.open();
    const begun = reservation();
    await book.begin(begun, facts);
    await book.begin(reservation({ workspace: "ws-2" }), facts);
    const hold = {
      generation: begun.generation,
      fingerprint: "f0",
      amount: 200_000n,
      key: "key-1",
      month: "2026-11",
      admittedAt: begun.admittedAt,
      deadline: begun.admittedAt + holdMs,
    };
    expect((await reports()).holds).toEqual([hold]);
    await book.end(endOf(begun, usage));
    await settled();
    expect((await reports()).holds).toEqual([hold]);
    await confirmAll();
    expect((await reports()).holds).toEqual([]);
    expect(book.unsettled).toBe(1);
  });

  test("reports the last minute's admissions however far the counters' clock is from the time of day here", async () => {
    const book = books.open();
    const begun = reservation({ admittedAt: books.clock.now() - 180_000 });
    await book.begin(begun, facts);
    await book.end(endOf(begun, usage));
    await settled();
    await confirmAll();
    await books.clock.pass(59_000);
    expect((await reports()).windows).toEqual([{ key: "key-1", times: [begun.admittedAt] }]);
  });

  test("reports when the last minute's requests of each key were admitted, also after they were confirmed", async () => {
    const book = books.open();
    const start = books.clock.now();
    for (const [key, offset] of [
      ["key-1", 0],
      ["key-2", 5],
      ["key-1", 7],
    ] as const) {
      const begun = reservation({ key, admittedAt: start + offset });
      await book.begin(begun, facts);
      await book.end(endOf(begun, usage));
    }
    await settled();
    await confirmAll();
    expect((await reports()).windows).toEqual([
      { key: "key-1", times: [start, start + 7] },
      { key: "key-2", times: [start + 5] },
    ]);
    await books.clock.pass(150_000);
    expect(await reports()).toEqual({ holds: [], windows: [] });
  });

  test("keeps a key's ten thousand admissions a minute within twice that memory", async () => {
    const book = books.open();
    const start = books.clock.now();
    for (let number = 0; number < 25_000; number++) {
      const begun = reservation({ generation: `gen-${number}`, admittedAt: start + number * 6 });
      await book.begin(begun, facts);
    }
    const [window] = (await reports()).windows;
    expect(window?.times.length).toBeGreaterThanOrEqual(10_000);
    expect(window?.times.length).toBeLessThanOrEqual(20_001);
  }, 30_000);

  test("takes no more than 200,000 generations that the ledger has not confirmed", async () => {
    const book = books.open();
    const begun = Array.from({ length: unsettledMax }, (_, number) =>
      book.begin(reservation({ generation: `gen-${number}`, request: "r" }), facts),
    );
    expect(book.accepting()).toBe(false);
    expect(await failureOf(book.begin(reservation(), facts))).toBeInstanceOf(GatewayError);
    await Promise.all(begun);
  }, 30_000);

  test("publishes each end once, as it was told", async () => {
    const book = books.open();
    const begun = reservation();
    await book.begin(begun, facts);
    const ended = endOf(begun, usage);
    await book.end(ended);
    expect(await books.published()).toEqual([ended]);
  });

  test("deletes its segments by itself once all is confirmed", async () => {
    const book = books.open();
    for (let number = 0; number < 2_000; number++) {
      const begun = reservation();
      await book.begin(begun, facts);
      await book.end(endOf(begun, usage));
    }
    await settled();
    expect(readdirSync(books.path).length).toBeGreaterThan(1);
    await confirmAll();
    await books.clock.pass(90_000);
    expect(readdirSync(books.path).length).toBe(1);
  });

  test("leaves no timer behind when it is closed", async () => {
    const book = books.open();
    const begun = reservation();
    await book.begin(begun, facts);
    await book.end(endOf(begun, usage));
    await settled();
    book[Symbol.dispose]();
    expect(books.clock.pending).toBe(0);
    expect(await books.bus.scatter("open-generations", encodeOpenQuestion({ workspace: "ws-1" }))).toEqual([]);
  });
});

describe("a book whose owner was killed", () => {
  test("is taken up: what was settled is published again, what no provider was called for is unknown and charged nothing", async () => {
    const killed = books.open();
    const [ended, lost] = [reservation(), reservation()];
    killed.begin(ended, facts);
    killed.begin(lost, facts);
    killed.end(endOf(ended, usage));
    killed[Symbol.dispose]();
    books.bus.stored = [];

    books.clock.advance(5_000);
    const successor = books.open();
    expect(successor.recover()).toEqual({ settled: 1, cut: 0, unknown: 1, undecided: [] });
    expect((await reports()).holds.map(({ generation }) => generation)).toEqual([ended.generation, lost.generation]);
    expect(await books.published()).toMatchObject([
      { generation: ended.generation, outcome: "settled", usage },
      {
        generation: lost.generation,
        outcome: "unknown",
        usage: { promptTokens: 0, completionTokens: 0 },
        prices: { input: "0", output: "0" },
        reserved: "200000",
        durationMs: 5_000,
        status: 500,
      },
    ]);
    await confirmAll();
    expect(successor.unsettled).toBe(0);
  });

  test("rebuilds the last minute of each key", async () => {
    const killed = books.open();
    const begun = reservation();
    killed.begin(begun, facts);
    killed[Symbol.dispose]();
    books.open().recover();
    expect((await reports()).windows).toEqual([{ key: "key-1", times: [begun.admittedAt] }]);
  });

  test("killed again while it is taken up loses nothing", async () => {
    const killed = books.open();
    const lost = reservation();
    killed.begin(lost, facts);
    killed[Symbol.dispose]();
    const second = books.open();
    second.recover();
    second[Symbol.dispose]();
    books.bus.stored = [];
    expect(books.open().recover()).toEqual({ settled: 1, cut: 0, unknown: 0, undecided: [] });
    expect(await books.published()).toMatchObject([{ generation: lost.generation, outcome: "unknown" }]);
  });

  test("found after weeks tells no duration that no log can hold", async () => {
    const killed = books.open();
    killed.begin(reservation(), facts);
    killed[Symbol.dispose]();
    books.clock.advance(60 * 24 * 3_600_000);
    books.open().recover();
    expect(await books.published()).toMatchObject([{ durationMs: holdMs }]);
  });
});

describe.skipIf(!canFillDisk)("on a full disk", () => {
  test("nothing is begun, an end is published all the same, and when there is room again all goes on", async () => {
    const book = books.open();
    const begun = reservation();
    await book.begin(begun, facts);
    const refused = failureOf(book.begin(reservation(), facts));
    const ended = book.end(endOf(begun, usage));
    withDiskFullAt(0, () => {
      book.flush();
      expect(book.accepting()).toBe(false);
      expect(() => book.asked([{ workspace: "ws-1", generation: "gen-1" }])).toThrow();
    });
    expect(String(await refused)).toContain("Credit cannot be checked");
    await ended;
    expect(await books.published()).toMatchObject([{ generation: begun.generation }]);
    expect(book.unsettled).toBe(1);
    expect(book.accepting()).toBe(true);
    await book.begin(reservation(), facts);
  });
});
