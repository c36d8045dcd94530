import { describe, expect, test } from "bun:test";
import { retryHeaders, windowHeaders } from "../../../../src/gateway/api/answer/response.ts";

describe("retryHeaders", () => {
  test.each([
    [0, "1", "1"],
    [0.2, "1", "1"],
    [999, "1", "999"],
    [1_000, "1", "1000"],
    [1_001, "2", "1001"],
    [5_000, "5", "5000"],
    [59_999.1, "60", "60000"],
  ])("a wait of %p ms is Retry-After %p and retry-after-ms %p", (waitMs, seconds, milliseconds) => {
    expect(retryHeaders(waitMs)).toEqual({ "retry-after": seconds, "retry-after-ms": milliseconds });
  });
});

test("windowHeaders has the limit, the remaining requests, and the wait in the official API's notation", () => {
  expect(windowHeaders({ limit: 60, remaining: 59, resetMs: 60_000 })).toEqual({
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-reset-requests": "1m0s",
  });
  const reset = (resetMs: number) => windowHeaders({ limit: 1, remaining: 0, resetMs })["x-ratelimit-reset-requests"];
  expect([0, 120, 999.5, 59_500].map(reset)).toEqual(["0ms", "120ms", "1s", "59.5s"]);
});
