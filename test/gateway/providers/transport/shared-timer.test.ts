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

test("a listener is called repeatedly until it is removed", () => {
  const clock = new ManualClock();
  const { looks, one } = waiting(clock);
  clock.advance(3 * timerStepMs);
  sharedTimerOf(clock).delete(one);
  clock.advance(10 * timerStepMs);
  expect(looks).toEqual([timerStepMs, 2 * timerStepMs, 3 * timerStepMs]);
});

test("all listeners share one timer, which stops without listeners", () => {
  const clock = new ManualClock();
  const many = Array.from({ length: 100 }, () => waiting(clock).one);
  expect(clock.pending).toBe(1);
  for (const one of many) sharedTimerOf(clock).delete(one);
  expect(clock.pending).toBe(0);
});

test("a listener that removes itself does not prevent the others from being called", () => {
  const clock = new ManualClock();
  const lookout = sharedTimerOf(clock);
  const first = { look: () => lookout.delete(first) };
  lookout.add(first);
  const { looks } = waiting(clock);
  clock.advance(2 * timerStepMs);
  expect(looks).toHaveLength(2);
});

test("a listener that throws is called no more, and the others go on", () => {
  const clock = new ManualClock();
  sharedTimerOf(clock).add({
    look: () => {
      throw new Error("broken");
    },
  });
  const { looks } = waiting(clock);
  expect(() => clock.advance(timerStepMs)).toThrow("broken");
  clock.advance(timerStepMs);
  expect(looks).toHaveLength(2);
});
