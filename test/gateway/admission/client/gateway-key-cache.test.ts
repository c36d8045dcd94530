import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayKeyCache } from "../../../../src/gateway/admission/client/gateway-key-cache.ts";
import type { KeyRecordReply } from "../../../../src/gateway/admission/message.ts";
import { KeyRecordCache } from "../../../../src/gateway/admission/worker/key-record-cache.ts";
import { recordOnBus } from "../../../../src/gateway/admission/record-on-bus.ts";
import { ManualClock } from "../../../support/clock.ts";
import { keyRecord } from "../../../support/key-records.ts";

const known: KeyRecordReply = { kind: "record", ageMs: 0, record: recordOnBus(keyRecord()) };
const unknown: KeyRecordReply = { kind: "record", ageMs: 0, record: null };

describe("what a front remembers of a key", () => {
  test("lasts until the record is 30 seconds old, reckoned from before it was asked for", () => {
    const clock = new ManualClock();
    const hints = new GatewayKeyCache(clock);
    const asked = { at: clock.monotonic(), version: hints.version() };
    clock.advance(1_000);
    hints.set("hash", { ...known, ageMs: 20_000 }, asked);
    clock.advance(8_999);
    expect(hints.get("hash")?.id).toBe("key-1");
    clock.advance(1);
    expect(hints.get("hash")).toBeUndefined();
  });

  test("lasts 5 seconds where the key is not known", () => {
    const clock = new ManualClock();
    const hints = new GatewayKeyCache(clock);
    hints.set("hash", { ...unknown, ageMs: 2_000 }, { at: 0, version: hints.version() });
    clock.advance(2_999);
    expect(hints.get("hash")).toBeNull();
    clock.advance(1);
    expect(hints.get("hash")).toBeUndefined();
  });

  test("is not taken from an answer that was on its way while something changed", () => {
    const clock = new ManualClock();
    const hints = new GatewayKeyCache(clock);
    const asked = { at: clock.monotonic(), version: hints.version() };
    hints.clear();
    hints.set("hash", known, asked);
    expect(hints.get("hash")).toBeUndefined();
  });

  test("together with the worker's cache is never believed for more than 30 seconds after the read", async () => {
    const waits = fc.record({ asking: fc.nat(2_000), answering: fc.nat(2_000), idle: fc.nat(40_000) });
    const rounds = fc.array(waits, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(rounds, async (steps) => {
        const clock = new ManualClock();
        let readAt = 0;
        const find = async () => ((readAt = clock.monotonic()), new Map([["hash", keyRecord()]]));
        const records = new KeyRecordCache(find, clock);
        const hints = new GatewayKeyCache(clock);
        let hintReadAt = 0;
        for (const { asking, answering, idle } of steps) {
          if (hints.get("hash") === undefined) {
            const asked = { at: clock.monotonic(), version: hints.version() };
            clock.advance(asking);
            const entry = (await records.get(["hash"])).get("hash");
            const ageMs = Math.ceil(clock.monotonic() - (entry?.readAt ?? 0));
            hintReadAt = readAt;
            clock.advance(answering);
            hints.set("hash", { ...known, ageMs }, asked);
          }
          clock.advance(idle);
          if (hints.get("hash") !== undefined) expect(clock.monotonic() - hintReadAt).toBeLessThan(30_000);
        }
      }),
      { numRuns: 150, verbose: 1 },
    );
  }, 30_000);
});
