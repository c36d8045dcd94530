/** Months are those of UTC, and the cache of the last month never changes a result. */
import { expect, test } from "bun:test";
import { monthBounds, monthOf } from "../../src/kernel/clock.ts";

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
