import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { KeyRecord, OwnKey } from "../../../src/accounts/keys/record.ts";
import { GatewayKeyCache, KeyRecordCache, PartitionedLru } from "../../../src/gateway/admission/key-cache.ts";
import { recordsCachedBytesMax } from "../../../src/gateway/admission/limits.ts";
import { type KeyRecordReply, recordOnBus } from "../../../src/gateway/admission/message.ts";
import { unknownKeysCachedMax } from "../../../src/gateway/limits.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { keyRecord } from "../../support/gateway/key-records.ts";

const known: KeyRecordReply = { kind: "record", ageMs: 0, record: recordOnBus(keyRecord()) };
const unknown: KeyRecordReply = { kind: "record", ageMs: 0, record: null };

describe("the gateway's key cache", () => {
  test("the cache keeps a record until it is 30 seconds old, counted from before the request", () => {
    const clock = new ManualClock();
    const cache = new GatewayKeyCache(clock);
    const sent = { at: clock.monotonic(), version: cache.version() };
    clock.advance(1_000);
    cache.set("hash", { ...known, ageMs: 20_000 }, sent);
    clock.advance(8_999);
    expect(cache.get("hash")?.id).toBe("key-1");
    clock.advance(1);
    expect(cache.get("hash")).toBeUndefined();
  });

  test("the cache keeps an unknown key for 5 seconds", () => {
    const clock = new ManualClock();
    const cache = new GatewayKeyCache(clock);
    cache.set("hash", { ...unknown, ageMs: 2_000 }, { at: 0, version: cache.version() });
    clock.advance(2_999);
    expect(cache.get("hash")).toBeNull();
    clock.advance(1);
    expect(cache.get("hash")).toBeUndefined();
  });

  test("the cache ignores a reply whose record may have changed before it arrived", () => {
    const clock = new ManualClock();
    const cache = new GatewayKeyCache(clock);
    const sent = { at: clock.monotonic(), version: cache.version() };
    cache.clear();
    cache.set("hash", known, sent);
    expect(cache.get("hash")).toBeUndefined();
  });

  test("the caches of gateway and worker together never use a record for more than 30 seconds after its read", async () => {
    const waits = fc.record({ requesting: fc.nat(2_000), replying: fc.nat(2_000), idle: fc.nat(40_000) });
    const rounds = fc.array(waits, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(rounds, async (steps) => {
        const clock = new ManualClock();
        let readAt = 0;
        const find = async () => ((readAt = clock.monotonic()), new Map([["hash", keyRecord()]]));
        const records = new KeyRecordCache(find, clock);
        const cache = new GatewayKeyCache(clock);
        let cachedReadAt = 0;
        for (const { requesting, replying, idle } of steps) {
          if (cache.get("hash") === undefined) {
            const sent = { at: clock.monotonic(), version: cache.version() };
            clock.advance(requesting);
            const entry = (await records.get(["hash"])).get("hash");
            const ageMs = Math.ceil(clock.monotonic() - (entry?.readAt ?? 0));
            cachedReadAt = readAt;
            clock.advance(replying);
            cache.set("hash", { ...known, ageMs }, sent);
          }
          clock.advance(idle);
          if (cache.get("hash") !== undefined) expect(clock.monotonic() - cachedReadAt).toBeLessThan(30_000);
        }
      }),
      { numRuns: 150, verbose: 1 },
    );
  }, 30_000);
});

/** A table of keys that records its reads and returns when the test allows it. */
class Table {
  readonly rows = new Map<string, KeyRecord>([["known", keyRecord()]]);
  readonly reads: string[][] = [];
  isDown = false;
  /** Resolves the running reads; null: reads return at once. */
  held: (() => void)[] | null = null;

  readonly find = async (hashes: string[]): Promise<Map<string, KeyRecord>> => {
    this.reads.push(hashes);
    if (this.isDown) throw new Error("the database is down");
    const found = new Map(hashes.flatMap((hash) => [...this.rows].filter(([known]) => known === hash)));
    const { held } = this;
    if (held) await new Promise<void>((resolve) => held.push(resolve));
    return found;
  };

  release(): void {
    for (const resolve of this.held?.splice(0) ?? []) resolve();
  }
}

function open() {
  const clock = new ManualClock();
  const table = new Table();
  return { clock, table, records: new KeyRecordCache(table.find, clock) };
}

describe("the cache of key records", () => {
  test("the cache serves a record for exactly 30 seconds from the start of its read", async () => {
    const { clock, table, records } = open();
    table.held = [];
    const reading = records.get(["known"]);
    await settled();
    clock.advance(900);
    table.release();
    expect((await reading).get("known")?.readAt).toBe(0);
    table.held = null;

    clock.advance(29_099);
    expect(records.cached("known")?.record).toEqual(keyRecord());
    clock.advance(1);
    expect(records.cached("known")).toBeUndefined();
    await records.get(["known"]);
    expect(table.reads.length).toBe(2);
  });

  test("the use of a record does not extend its life", async () => {
    const { clock, table, records } = open();
    await records.get(["known"]);
    table.isDown = true;
    for (let second = 0; second < 30; second++) {
      expect(records.cached("known")?.readAt).toBe(0);
      await settled();
      clock.advance(1_000);
    }
    expect(records.cached("known")).toBeUndefined();
  });

  test("the cache reads records used after 20 seconds again in the background, many in one statement", async () => {
    const { clock, table, records } = open();
    table.rows.set("other", keyRecord());
    await records.get(["known", "other"]);
    clock.advance(19_999);
    records.cached("known");
    clock.advance(1);
    table.held = [];
    for (const hash of ["known", "known", "other"]) expect(records.cached(hash)?.readAt).toBe(0);
    clock.advance(50);
    expect(table.reads).toEqual([
      ["known", "other"],
      ["known", "other"],
    ]);
    clock.advance(500);
    expect(records.cached("known")?.readAt).toBe(0);
    table.release();
    await settled();
    expect(records.cached("known")?.readAt).toBe(20_050);
    clock.advance(19_449);
    records.cached("known");
    clock.advance(50);
    expect(table.reads.length).toBe(2);
  });

  test("the cache drops a record read in the background if a record changed during the read", async () => {
    const { clock, table, records } = open();
    await records.get(["known"]);
    clock.advance(20_000);
    records.cached("known");
    table.held = [];
    clock.advance(50);
    records.clear();
    table.release();
    await settled();
    expect(records.cached("known")).toBeUndefined();
  });

  test("the cache keeps an unknown key for 5 seconds", async () => {
    const { clock, table, records } = open();
    expect((await records.get(["invalid"])).get("invalid")?.record).toBeNull();
    clock.advance(4_999);
    await records.get(["invalid"]);
    expect(table.reads.length).toBe(1);
    clock.advance(1);
    await records.get(["invalid"]);
    expect(table.reads.length).toBe(2);
  });

  test("the cache looks up all hashes of one turn in one statement, each hash once", async () => {
    const { table, records } = open();
    const results = await Promise.all([records.get(["a", "known"]), records.get(["b", "known"]), records.get(["c"])]);
    expect(table.reads).toEqual([["a", "known", "b", "c"]]);
    expect(results.map((result) => [...result.keys()].toSorted())).toEqual([["a", "known"], ["b", "known"], ["c"]]);
  });

  test("a flood of invalid keys does not refuse a valid one", async () => {
    const { records } = open();
    const flood = Array.from({ length: 20_000 }, (_, number) => `invalid ${number}`);
    const [result] = await Promise.all([records.get(["known"]), ...flood.map((hash) => records.get([hash]))]);
    expect(result.get("known")?.record?.id).toBe("key-1");
  });

  test("the cache drops the result of a read if a record changed during it", async () => {
    const { table, records } = open();
    table.held = [];
    const before = records.get(["known"]);
    await settled();
    table.rows.delete("known");
    records.clear();
    table.release();
    await before;
    table.held = null;
    expect((await records.get(["known"])).get("known")?.record).toBeNull();
  });

  test("a look-up after a change does not join an earlier read", async () => {
    const { table, records } = open();
    const before = records.get(["known"]);
    records.clear();
    const after = records.get(["known"]);
    await Promise.all([before, after]);
    expect(table.reads.length).toBe(2);
  });

  test("without the database the cache serves valid records and fails for the others, and it recovers", async () => {
    const { clock, table, records } = open();
    await records.get(["known"]);
    table.isDown = true;
    await expect(records.get(["known", "other"])).rejects.toThrow("the database is down");
    expect((await records.get(["known"])).get("known")?.record?.id).toBe("key-1");
    clock.advance(30_000);
    await expect(records.get(["known"])).rejects.toThrow();
    table.isDown = false;
    expect((await records.get(["known"])).get("known")?.record?.id).toBe("key-1");
  });

  test("the cache stops waiting for a database that does not answer, and leaves no timer", async () => {
    const { clock, table, records } = open();
    table.held = [];
    const failed = records.get(["known"]).catch(String);
    await clock.pass(1_000);
    expect(await failed).toContain("did not end within 1000 ms");
    table.release();
    await settled();
    expect(records.cached("known")).toBeUndefined();
    expect(clock.pending).toBe(0);
  });
});

const valid = { record: { ownKeys: null } };
const invalid = { record: null };

test("a flood of invalid keys evicts no valid key, and is bounded itself", () => {
  const cache = new PartitionedLru<typeof valid | typeof invalid>();
  cache.set("valid", valid);
  for (let key = 0; key < 2 * unknownKeysCachedMax; key++) cache.set(`invalid ${key}`, invalid);
  expect(cache.get("valid")).toBe(valid);
  expect(cache.get("invalid 0")).toBeUndefined();
  expect(cache.get(`invalid ${2 * unknownKeysCachedMax - 1}`)).toBe(invalid);
});

test("the newest entry of a key counts, whether the key became valid or invalid", () => {
  const cache = new PartitionedLru<typeof valid | typeof invalid>();
  cache.set("key", invalid);
  cache.set("key", valid);
  expect(cache.get("key")).toBe(valid);
  cache.set("key", invalid);
  expect(cache.get("key")).toBe(invalid);
  cache.clear();
  expect(cache.get("key")).toBeUndefined();
});

test("records with many own keys are bounded in bytes, not only in number", () => {
  const cache = new PartitionedLru<{ record: { ownKeys: OwnKey[] } }>();
  const large = { sealed: "s".repeat(recordsCachedBytesMax / 4), dataKey: null, checks: [] } as unknown as OwnKey;
  for (let key = 0; key < 5; key++) cache.set(`key ${key}`, { record: { ownKeys: [large] } });
  const kept = [0, 1, 2, 3, 4].filter((key) => cache.get(`key ${key}`) !== undefined);
  expect(kept).toEqual([2, 3, 4]);
});
