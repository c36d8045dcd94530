import { describe, expect, test } from "bun:test";
import type { History, HistoryEvent } from "./history.ts";
import { rateWindow } from "./checks/rate-window.ts";
import { retryAfter } from "./checks/retry-after.ts";
import { revocation } from "./checks/revocation.ts";
import { admitted, answered, called, invoked, refused } from "./example-events.ts";

describe("I-5, no minute has more than the limit", () => {
  const rate = (at: number, requestsPerMinute: number): HistoryEvent => ({ kind: "rate", at, key: "k", requestsPerMinute });
  const calls = (...times: number[]): HistoryEvent[] =>
    times.flatMap((at, number) => [admitted(at, `gen-${number}`), called(at, `gen-${number}`)]);

  test("the invariant holds when the oldest call left the window to the millisecond", () => {
    expect(rateWindow([rate(0, 2), ...calls(0, 10, 60_000, 60_010)], 0)).toEqual({ checks: 4, broken: [] });
  });

  test("the checker accepts the old limit for half a minute after it was lowered", () => {
    expect(rateWindow([rate(0, 2), rate(1, 1), ...calls(2, 3)], 0).broken).toEqual([]);
    expect(rateWindow([rate(0, 2), rate(1, 1), ...calls(2, 40_000)], 0).broken).toHaveLength(2);
  });

  test("the checker does not count an admission without a call", () => {
    expect(rateWindow([rate(0, 1), admitted(0, "gen-9"), ...calls(1)], 0).broken).toEqual([]);
  });

  test.each<[string, History, string]>([
    ["one came a millisecond early", calls(0, 10, 59_999), "3 within 59999 ms, up to gen-2, but 2"],
    ["they came at once", calls(5, 5, 5), "3 within 0 ms"],
    [
      "the counters' clock forgot them",
      [
        admitted(0, "a"),
        called(0, "a"),
        admitted(1, "b"),
        called(1, "b"),
        admitted(2, "c", { admittedAt: 90_000 }),
        called(2, "c"),
      ],
      "as providers saw it",
    ],
  ])("the checker reports it when %s", (_, history, problem) => {
    expect(rateWindow([rate(0, 2), ...history], 0).broken.join()).toContain(problem);
  });

  test("the checker allows for the time in transit and for a clock that was set forward", () => {
    const slow = [admitted(0, "a"), called(40, "a"), admitted(60_000, "b"), called(60_000, "b")];
    expect(rateWindow([rate(0, 1), ...slow], 0).broken).toHaveLength(1);
    expect(rateWindow([rate(0, 1), ...slow], 40).broken).toEqual([]);
    const stepped: History = [
      admitted(0, "a"),
      called(0, "a"),
      { kind: "stepped", at: 1, ms: 90_000 },
      admitted(2, "b", { admittedAt: 90_002 }),
      called(2, "b"),
    ];
    expect(rateWindow([rate(0, 1), ...stepped], 0).broken).toEqual([]);
  });

  test("the checker knows that a clock that was set back had been further on, and how far", () => {
    const back = (at: number): History => [
      ...calls(0, 50_000),
      { kind: "stepped", at, ms: -90_000 },
      admitted(61_000, "c", { admittedAt: 50_000 }),
      called(61_000, "c"),
    ];
    expect(rateWindow([rate(0, 2), ...back(60_000)], 0).broken).toEqual([]);
    expect(rateWindow([rate(0, 2), ...back(59_999)], 0).broken).toHaveLength(1);
    const emptied = (at: number): HistoryEvent => ({ kind: "fault", name: "the counters are emptied", phase: "begins", at });
    const [first, last] = [back(59_999).slice(0, -2), back(59_999).slice(-2)];
    expect(rateWindow([rate(0, 2), ...first, emptied(60_500), ...last], 0).broken).toEqual([]);
    expect(rateWindow([rate(0, 2), emptied(59_000), ...first, ...last], 0).broken).toHaveLength(1);
  });

  test("what a gateway admitted that is lost with its disk is forgotten if the counters are lost after it, and not before", () => {
    const fault = (name: string, at: number): HistoryEvent => ({ kind: "fault", name, phase: "begins", at });
    const [emptied, disk] = ["the counters are emptied", "a gateway is lost with its disk"] as const;
    const late = [admitted(30_000, "late"), called(30_000, "late")];
    const broken = (...faults: HistoryEvent[]) =>
      rateWindow([rate(0, 2), ...calls(1_000, 2_000), ...faults, ...late], 0).broken.length;
    expect(broken(fault(disk, 3_000), fault(emptied, 4_000))).toBe(0);
    expect(broken(fault(emptied, 3_000), fault(disk, 4_000))).toBeGreaterThan(0);
    expect(broken(fault(disk, 3_000))).toBeGreaterThan(0);
  });

  test("the checker allows for a gateway that stood still before its call, and for no longer", () => {
    const late = [admitted(0, "a"), called(7_000, "a"), admitted(60_000, "b"), called(60_000, "b")];
    const still = (stoodStillMs: number): HistoryEvent => ({ kind: "healed", at: 7_000, stoodStillMs });
    expect(rateWindow([rate(0, 1), still(7_000), ...late], 0).broken).toEqual([]);
    expect(rateWindow([rate(0, 1), still(6_999), ...late], 0).broken).toHaveLength(1);
    const laterMinute = [admitted(20_000, "a"), called(20_000, "a"), admitted(75_000, "b"), called(75_000, "b")];
    expect(rateWindow([rate(0, 1), still(7_000), ...laterMinute], 0).broken.join()).toContain("as providers saw it");
  });
});

describe("I-6, Retry-After is exact", () => {
  const probed = (afterMs: number, answer: HistoryEvent): History => [
    invoked(0, "first"),
    refused(1, "first", "rate_limited", 5_000),
    invoked(5_000 + afterMs, "probe", { probe: { of: "first", afterMs } }),
    answer,
  ];

  test("the invariant holds when a request is admitted at the named moment and refused a second before", () => {
    expect(retryAfter(probed(0, answered(5_001, "probe")))).toEqual({ checks: 1, broken: [] });
    expect(retryAfter(probed(-1_000, refused(4_001, "probe", "rate_limited", 1_000)))).toEqual({ checks: 1, broken: [] });
  });

  test("a request within the rounding, or without an answer, proves nothing", () => {
    expect(retryAfter(probed(-500, answered(4_501, "probe"))).checks).toBe(0);
    expect(retryAfter(probed(0, { kind: "info", at: 9_000, invocation: "probe" })).checks).toBe(0);
  });

  test("the checker reports a moment that was too early or too late", () => {
    expect(retryAfter(probed(0, refused(5_001, "probe", "rate_limited", 1)))).toMatchObject({
      checks: 1,
      broken: [expect.any(String)],
    });
    expect(retryAfter(probed(-1_000, answered(4_001, "probe"))).broken.join()).toContain("not refused but 200");
  });
});

describe("I-14, a revoked key is refused after 30 s", () => {
  const asked = (at: number): History => [
    { kind: "revoked", at: 100, key: "k" },
    invoked(at, "gen-1"),
    admitted(at + 5, "gen-1"),
  ];

  test("the invariant holds for a request within 30 s", () => {
    expect(revocation(asked(30_100), 0)).toEqual({ checks: 1, broken: [] });
  });

  test("the checker reports a later request, and allows the full delay when the time of the request is unknown", () => {
    expect(revocation(asked(30_101), 0).broken.join()).toContain("requested 30001 ms after its revocation");
    const rows: History = [{ kind: "revoked", at: 0, key: "k" }, admitted(30_050, "gen-1", { invocation: null })];
    expect(revocation(rows, 50).broken).toEqual([]);
    expect(revocation(rows, 49).broken).toHaveLength(1);
  });
});
