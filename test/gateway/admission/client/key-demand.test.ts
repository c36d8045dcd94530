import { expect, test } from "bun:test";
import { KeyDemand } from "../../../../src/gateway/admission/client/key-demand.ts";
import { blockKeptPauseMs, blockUnusedPauseMsMax } from "../../../../src/gateway/admission/limits.ts";

/** A key that made a request each 10 ms until `now`. */
function busyUntil(demand: KeyDemand, now: number): void {
  for (let at = now - 200; at <= now; at += 10) demand.note(1n, at);
}

/** How long no block is wished for after `now`. */
function pauseAfter(demand: KeyDemand, now: number): number {
  for (let later = 0; ; later += 100) {
    busyUntil(demand, now + later);
    if (demand.wish(now + later) !== null) return later;
  }
}

test("a key whose blocks do not pay is asked for them ever less often, until one pays", () => {
  const demand = new KeyDemand();
  let now = 1_000;
  const pauses = Array.from({ length: 6 }, () => {
    demand.ended(3, now);
    const pause = pauseAfter(demand, now);
    now += pause;
    return pause;
  });
  expect(pauses).toEqual([blockKeptPauseMs, 10_000, 20_000, 40_000, blockUnusedPauseMsMax, blockUnusedPauseMsMax]);
  demand.ended(4, now);
  expect(pauseAfter(demand, now)).toBe(0);
  demand.ended(0, now);
  expect(pauseAfter(demand, now)).toBe(blockKeptPauseMs);
});

test("nothing is lent for the first requests of a key, nor for requests that are far apart", () => {
  const demand = new KeyDemand();
  demand.note(1n, 0);
  expect(demand.wish(0)).toBeNull();
  for (let at = 3_000; at < 60_000; at += 3_000) {
    demand.note(1n, at);
    expect(demand.wish(at)).toBeNull();
  }
});
