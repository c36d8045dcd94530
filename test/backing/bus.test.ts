import { describe, expect, test } from "bun:test";
import { intervalAfter } from "../../src/backing/bus.ts";

describe("the pace of a consumer", () => {
  const pace = { messagesMax: 64, everyMs: 100, everyMsMax: 500 };

  test("a short batch is followed by the next after the shortest interval", () => {
    expect([0, 5, 20].map((workMs) => intervalAfter(workMs, pace))).toEqual([100, 100, 100]);
  });

  test("a longer batch is followed by a rest of four times its length, up to the longest interval", () => {
    expect([40, 80, 100, 400].map((workMs) => intervalAfter(workMs, pace))).toEqual([200, 400, 500, 500]);
  });

  test("without a longest interval every batch is followed after the same one, and without any at once", () => {
    expect(intervalAfter(1_000, { messagesMax: 1, everyMs: 50 })).toBe(50);
    expect(intervalAfter(1_000, { messagesMax: 1 })).toBe(0);
  });
});
