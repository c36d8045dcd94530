import { expect, test } from "bun:test";
import { quantile } from "../../../src/gateway/usage/chart-values.ts";
import { randomFrom } from "../../support/random.ts";

/** As the database finds it: eight ranges double the time. */
const rangeOf = (ms: number): number => Math.floor(8 * Math.log2(ms) + 1e-9);

test("a quantile from ranges is within five percent of the exact one, and to the millisecond where that is more", () => {
  const chance = randomFrom(7);
  for (let n = 0; n < 200; n++) {
    const times = Array.from({ length: 1 + Math.floor(chance() * 300) }, () => 1 + Math.floor(10 ** (chance() * 5)));
    const sorted = times.toSorted((one, other) => one - other);
    const counts = Map.groupBy(times.map(rangeOf), (range) => range);
    const ranges = [...counts]
      .map(([range, all]) => ({ range, count: all.length }))
      .toSorted((one, other) => one.range - other.range);
    for (const part of [0.5, 0.95, 1]) {
      const exact = sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
      const found = quantile(ranges, part) ?? 0;
      expect(Math.abs(found - exact)).toBeLessThanOrEqual(Math.max(0.5, exact * 0.05 + 0.5));
    }
  }
});

test("nothing that was timed has no quantile", () => {
  expect(quantile([], 0.5)).toBeNull();
});
