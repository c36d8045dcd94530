/** Months are those of UTC, and the cache of the last month never changes a result. */
import { expect, test } from "bun:test";
import { monthBounds, monthOf, sharedTimerOf, timerStepMs } from "../../src/kernel/clock.ts";
import { ManualClock } from "../support/clock.ts";

const february = Date.UTC(2028, 1, 1);
const march = Date.UTC(2028, 2, 1);

test("a month begins with its first millisecond and ends before the next one's", () => {
  const moments = [february - 1, february, march - 1, march, february, Date.UTC(2027, 11, 31, 23, 59, 59, 999), march - 1];
  expect(moments.map(monthOf)).toEqual(["2028-01", "2028-02", "2028-02", "2028-03", "2028-02", "2027-12", "2028-02"]);
});

test("the bounds of a month are right, whichever month was computed before", () => {
  expect(monthBounds("2028-02")).toMatchObject({ startMs: february, endMs: march });
  expect(monthOf(march)).toBe("2028-03");
  expect(monthBounds("2028-02")).toMatchObject({ startMs: february, endMs: march });
  expect(monthBounds("2027-12")).toMatchObject({ startMs: Date.UTC(2027, 11, 1), endMs: Date.UTC(2028, 0, 1) });
  expect(monthOf(february)).toBe("2028-02");
});

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
