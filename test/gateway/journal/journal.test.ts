import type { ScatterMember } from "../../../src/backing/bus.ts";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { decodeOpenReport, encodeReportRequest, type OpenReport } from "../../../src/gateway/journal/open-report.ts";
import { decodeSettlements, encodeSettled } from "../../../src/gateway/journal/settlement.ts";
import { GatewayError } from "../../../src/kernel/errors.ts";
import { holdMs, rateWindowMs } from "../../../src/backing/limits.ts";
import type { GenerationJournal } from "../../../src/gateway/journal/journal.ts";
import { pruneMs, settlementPauseMs, unsettledMax } from "../../../src/gateway/limits.ts";
import { TestJournals } from "../../support/gateway/test-journals.ts";
import { settled } from "../../support/clock.ts";
import { endOf } from "../../support/test-gateway.ts";
import { failureOf } from "../../support/failure-of.ts";
import { canFillDisk, withDiskFullAt } from "../../support/processes/full-disk.ts";
import { reservation } from "../../support/gateway/intents.ts";

let journals: TestJournals;
beforeEach(async () => {
  journals = await TestJournals.make();
});
afterEach(() => journals[Symbol.asyncDispose]());

const facts = { fingerprint: "f0", model: "acme/one", streamed: false };
const usage = { promptTokens: 10, completionTokens: 5 };

async function reports(workspace = "ws-1"): Promise<OpenReport> {
  const all = (await journals.bus.scatter("open-generations", encodeReportRequest({ workspace }))).map(decodeOpenReport);
  return { holds: all.flatMap(({ holds }) => holds), windows: all.flatMap(({ windows }) => windows), blocks: [] };
}

async function confirmAll(): Promise<void> {
  await journals.clock.pass(settlementPauseMs);
  journals.bus.broadcast(
    "settled",
    encodeSettled(journals.bus.stored.splice(0).map(({ payload }) => decodeSettlements(payload).batch)),
  );
}

/** Begins and ends generations until the journal's present segment is full. */
async function fillSegment(journal: GenerationJournal): Promise<void> {
  const before = readdirSync(journals.path).length;
  while (readdirSync(journals.path).length === before) {
    const begun = reservation();
    journal.begin(begun, facts);
    journal.end({ ...endOf(begun, usage), model: "m".repeat(60_000) });
    await settled();
  }
}

describe("the journal of generations", () => {
  test("the journal reports a workspace's generations as open until the ledger confirms them", async () => {
    const journal = journals.open();
    const begun = reservation();
    await journal.begin(begun, facts);
    await journal.begin(reservation({ workspace: "ws-2" }), facts);
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
    await journal.end(endOf(begun, usage));
    await settled();
    expect((await reports()).holds).toEqual([hold]);
    await confirmAll();
    expect((await reports()).holds).toEqual([]);
    expect(journal.unsettled).toBe(1);
  });

  test("the journal reports the last minute's admissions even if the counters' clock differs from its own", async () => {
    const journal = journals.open();
    const begun = reservation({ admittedAt: journals.clock.now() - 180_000 });
    await journal.begin(begun, facts);
    await journal.end(endOf(begun, usage));
    await settled();
    await confirmAll();
    await journals.clock.pass(59_000);
    expect((await reports()).windows).toEqual([{ key: "key-1", times: [begun.admittedAt] }]);
  });

  test("the journal reports the last minute's admission times of each key, also after a confirmation", async () => {
    const journal = journals.open();
    const start = journals.clock.now();
    for (const [key, offset] of [
      ["key-1", 0],
      ["key-2", 5],
      ["key-1", 7],
    ] as const) {
      const begun = reservation({ key, admittedAt: start + offset });
      await journal.begin(begun, facts);
      await journal.end(endOf(begun, usage));
    }
    await settled();
    await confirmAll();
    expect((await reports()).windows).toEqual([
      { key: "key-1", times: [start, start + 7] },
      { key: "key-2", times: [start + 5] },
    ]);
    await journals.clock.pass(150_000);
    expect(await reports()).toEqual({ holds: [], windows: [], blocks: [] });
  });

  test("the journal stores at most twice a key's ten thousand admissions a minute", async () => {
    const journal = journals.open();
    const start = journals.clock.now();
    for (let number = 0; number < 25_000; number++) {
      const begun = reservation({ generation: `gen-${number}`, admittedAt: start + number * 6 });
      await journal.begin(begun, facts);
    }
    const [window] = (await reports()).windows;
    expect(window?.times.length).toBeGreaterThanOrEqual(10_000);
    expect(window?.times.length).toBeLessThanOrEqual(20_001);
  }, 30_000);

  test("the journal accepts at most 200,000 unconfirmed generations", async () => {
    const journal = journals.open();
    const begun = Array.from({ length: unsettledMax }, (_, number) =>
      journal.begin(reservation({ generation: `gen-${number}`, request: "r" }), facts),
    );
    expect(journal.accepting()).toBe(false);
    expect(await failureOf(journal.begin(reservation(), facts))).toBeInstanceOf(GatewayError);
    await Promise.all(begun);
  }, 30_000);

  test("the journal publishes each settlement once, unchanged", async () => {
    const journal = journals.open();
    const begun = reservation();
    await journal.begin(begun, facts);
    const ended = endOf(begun, usage);
    await journal.end(ended);
    expect(await journals.published()).toEqual([ended]);
  });

  test("the journal deletes its segments once all generations are confirmed", async () => {
    const journal = journals.open();
    for (let number = 0; number < 2_000; number++) {
      const begun = reservation();
      await journal.begin(begun, facts);
      await journal.end(endOf(begun, usage));
    }
    await settled();
    expect(readdirSync(journals.path).length).toBeGreaterThan(1);
    await confirmAll();
    await journals.clock.pass(90_000);
    expect(readdirSync(journals.path).length).toBe(1);
  });

  test("a closed journal leaves no timer", async () => {
    const journal = journals.open();
    const begun = reservation();
    await journal.begin(begun, facts);
    await journal.end(endOf(begun, usage));
    await settled();
    journal[Symbol.dispose]();
    expect(journals.clock.pending).toBe(0);
    expect(await journals.bus.scatter("open-generations", encodeReportRequest({ workspace: "ws-1" }))).toEqual([]);
  });
});

describe("the journal of a killed gateway", () => {
  test("its successor publishes settlements again, and ends generations without a provider call as unknown, for nothing", async () => {
    const killed = journals.open();
    const [ended, lost] = [reservation(), reservation()];
    killed.begin(ended, facts);
    killed.begin(lost, facts);
    killed.end(endOf(ended, usage));
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    journals.clock.advance(5_000);
    const successor = journals.open();
    expect(successor.recover()).toEqual({
      settled: 1,
      interrupted: 0,
      unknown: 1,
      pendingAdmissions: [],
      blocks: [],
      admitted: new Map([["ws-1", ended.admittedAt]]),
    });
    expect((await reports()).holds.map(({ generation }) => generation)).toEqual([ended.generation, lost.generation]);
    expect(await journals.published()).toMatchObject([
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

  test("a gateway that ended in order leaves nothing to recover, and still the last minute of each key", async () => {
    const first = journals.open();
    const ended = reservation();
    first.begin(ended, facts);
    first.end(endOf(ended, usage));
    await journals.published();
    await confirmAll();
    first[Symbol.dispose]();
    expect(journals.open().recover()).toEqual({
      settled: 0,
      interrupted: 0,
      unknown: 0,
      pendingAdmissions: [],
      blocks: [],
      admitted: new Map([["ws-1", ended.admittedAt]]),
    });
    expect((await reports()).windows).toEqual([{ key: "key-1", times: [ended.admittedAt] }]);
  });

  test("its successor says in whose place it reports, so that nobody waits for the dead one", () => {
    const members: (ScatterMember | undefined)[] = [];
    const serve = journals.bus.serveScatter.bind(journals.bus);
    journals.bus.serveScatter = (service, handler, member?: ScatterMember) => {
      members.push(member);
      return serve(service, handler);
    };
    for (let processes = 0; processes < 3; processes++) journals.open()[Symbol.dispose]();
    const [first, second, third] = members;
    expect(first?.predecessors).toEqual([]);
    expect(third?.predecessors).toEqual([first?.id ?? "", second?.id ?? ""]);
  });

  test("its successor reports the last minute of each key", async () => {
    const killed = journals.open();
    const begun = reservation();
    killed.begin(begun, facts);
    killed[Symbol.dispose]();
    journals.open().recover();
    expect((await reports()).windows).toEqual([{ key: "key-1", times: [begun.admittedAt] }]);
  });

  test("a second kill during the recovery loses nothing", async () => {
    const killed = journals.open();
    const lost = reservation();
    killed.begin(lost, facts);
    killed[Symbol.dispose]();
    const second = journals.open();
    second.recover();
    second[Symbol.dispose]();
    journals.bus.stored = [];
    expect(journals.open().recover()).toEqual({
      settled: 1,
      interrupted: 0,
      unknown: 0,
      pendingAdmissions: [],
      blocks: [],
      admitted: new Map([["ws-1", lost.admittedAt]]),
    });
    expect(await journals.published()).toMatchObject([{ generation: lost.generation, outcome: "unknown" }]);
  });

  test("its successor neither ends nor holds what the ledger had, even if only the intent is left on the disk", async () => {
    const killed = journals.open();
    const [long, crossing] = [reservation(), reservation()];
    for (const begun of [long, crossing]) killed.begin(begun, facts);
    await fillSegment(killed);
    killed.end(endOf(crossing, usage));
    await fillSegment(killed);
    await confirmAll();
    await journals.clock.pass(rateWindowMs + pruneMs);
    const numbers = readdirSync(journals.path).map((name) => Number(name.slice(0, 10)));
    expect(numbers.toSorted()).toEqual([1, 3]);
    killed[Symbol.dispose]();
    journals.bus.stored = [];

    const successor = journals.open();
    expect(successor.recover()).toMatchObject({ interrupted: 0, unknown: 1 });
    const { holds, windows } = await reports();
    expect(holds.map(({ generation }) => generation)).not.toContain(crossing.generation);
    expect(windows.flatMap(({ times }) => times).length).toBeGreaterThanOrEqual(2);
    const published = await journals.published();
    expect(published.map(({ generation }) => generation)).not.toContain(crossing.generation);
    expect(published).toContainEqual(expect.objectContaining({ generation: long.generation, outcome: "unknown" }));
    await confirmAll();
    expect(successor.unsettled).toBe(0);
  });

  test("a recovery after weeks reports a duration within the hold's", async () => {
    const killed = journals.open();
    killed.begin(reservation(), facts);
    killed[Symbol.dispose]();
    journals.clock.advance(60 * 24 * 3_600_000);
    journals.open().recover();
    expect(await journals.published()).toMatchObject([{ durationMs: holdMs }]);
  });
});

describe.skipIf(!canFillDisk)("the journal on a full disk", () => {
  test("the journal begins no generation, still publishes settlements, and continues when there is room again", async () => {
    const journal = journals.open();
    const begun = reservation();
    await journal.begin(begun, facts);
    const refused = failureOf(journal.begin(reservation(), facts));
    const ended = journal.end(endOf(begun, usage));
    withDiskFullAt(0, () => {
      journal.flush();
      expect(journal.accepting()).toBe(false);
      expect(() => journal.recordIntents([{ workspace: "ws-1", generation: "gen-1" }])).toThrow();
    });
    expect(String(await refused)).toContain("Credit cannot be checked");
    await ended;
    expect(await journals.published()).toMatchObject([{ generation: begun.generation }]);
    expect(journal.unsettled).toBe(1);
    expect(journal.accepting()).toBe(true);
    await journal.begin(reservation(), facts);
  });

  test("after a while with room its successor finds the settlement, even where the ledger has it and no request came", async () => {
    const killed = journals.open();
    const begun = reservation();
    await killed.begin(begun, facts);
    const ended = killed.end(endOf(begun, usage));
    withDiskFullAt(0, () => killed.flush());
    await ended;
    await confirmAll();
    await journals.clock.pass(pruneMs);
    expect(journals.open().recover()).toMatchObject({ settled: 1, interrupted: 0, unknown: 0 });
    expect(await journals.published()).toEqual([endOf(begun, usage)]);
  });
});
