import { expect, test } from "bun:test";
import { timerStepMs } from "../../../../src/gateway/limits.ts";
import { sharedTimerOf } from "../../../../src/gateway/providers/transport/shared-timer.ts";
import { ManualClock } from "../../../support/clock.ts";

function waiting(clock: ManualClock) {
  const looks: number[] = [];
  const one = { look: (nowMs: number) => void looks.push(nowMs) };
  sharedTimerOf(clock).add(one);
  return { looks, one };
}

test("whoever waits is called again and again until it is taken out", () => {
  const clock = new ManualClock();
  const { looks, one } = waiting(clock);
  clock.advance(3 * timerStepMs);
  sharedTimerOf(clock).delete(one);
  clock.advance(10 * timerStepMs);
  expect(looks).toEqual([timerStepMs, 2 * timerStepMs, 3 * timerStepMs]);
});

test("all take one timer, and none when nobody is left", () => {
  const clock = new ManualClock();
  const many = Array.from({ length: 100 }, () => waiting(clock).one);
  expect(clock.pending).toBe(1);
  for (const one of many) sharedTimerOf(clock).delete(one);
  expect(clock.pending).toBe(0);
});

test("one that takes itself out when it is called keeps nobody else from being called", () => {
  const clock = new ManualClock();
  const lookout = sharedTimerOf(clock);
  const first = { look: () => lookout.delete(first) };
  lookout.add(first);
  const { looks } = waiting(clock);
  clock.advance(2 * timerStepMs);
  expect(looks).toHaveLength(2);
});
