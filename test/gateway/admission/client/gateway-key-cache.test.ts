import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayKeyCache } from "../../../../src/gateway/admission/client/gateway-key-cache.ts";
import type { KeyRecordReply } from "../../../../src/gateway/admission/message.ts";
import { KeyRecordCache } from "../../../../src/gateway/admission/worker/key-record-cache.ts";
import { recordOnBus } from "../../../../src/gateway/admission/record-on-bus.ts";
import { ManualClock } from "../../../support/clock.ts";
import { keyRecord } from "../../../support/gateway/key-records.ts";

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
