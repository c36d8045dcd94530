import { expect, test } from "bun:test";
import { rateSampleMs, rateWindowMs } from "../../src/process/limits.ts";
import { RequestRate } from "../../src/process/request-rate.ts";
import { ManualClock, settled } from "../support/clock.ts";

test("the rate is that of the last minute, and of a younger process since it started", async () => {
  const clock = new ManualClock();
  let count = 0;
  using rate = new RequestRate({ clock, read: async () => count });
  expect(await rate.perSecond()).toBe(0);
  count = 50;
  clock.advance(5_000);
  expect(await rate.perSecond()).toBe(10);
  for (let passed = 5_000; passed < 3 * rateWindowMs; passed += rateSampleMs) {
    count += 2 * (rateSampleMs / 1_000);
    clock.advance(rateSampleMs);
    await settled();
  }
  expect(await rate.perSecond()).toBe(2);
});

test("a counter that cannot be read leaves the rate of what is known", async () => {
  const clock = new ManualClock();
  let reads = true;
  using rate = new RequestRate({
    clock,
    read: async () => {
      if (!reads) throw new Error("away");
      return 30;
    },
  });
  reads = false;
  clock.advance(rateSampleMs);
  await settled();
  reads = true;
  expect(await rate.perSecond()).toBe(Math.round((30 / (rateSampleMs / 1_000)) * 100) / 100);
});
