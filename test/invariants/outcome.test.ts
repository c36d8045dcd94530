import { describe, expect, test } from "bun:test";
import { failClosed } from "./checks/fail-closed.ts";
import type { History, HistoryEvent } from "./history.ts";
import { recoveries, recovery } from "./checks/recovery.ts";
import { refusalsChangeNothing } from "./checks/refusals-change-nothing.ts";
import { admitted, answered, called, generation, invoked, refused } from "./example-events.ts";

describe("I-7, refusals change nothing", () => {
  const inspected = (after: unknown): History => [{ kind: "inspected", at: 1, why: "429", before: { reserved: 1n }, after }];

  test("the invariant holds when the states before and after are equal", () => {
    expect(refusalsChangeNothing(inspected({ reserved: 1n }))).toEqual({ checks: 1, broken: [] });
  });

  test("the checker reports a changed state", () => {
    expect(refusalsChangeNothing(inspected({ reserved: 2n })).broken).toEqual([
      '429 at 1: {"reserved":"1"} became {"reserved":"2"}',
    ]);
  });
});

describe("I-12, what cannot be checked is refused", () => {
  const begins: HistoryEvent = { kind: "fault", at: 100, name: "no Redis", phase: "begins", closesAfterMs: 50 };
  const ends: HistoryEvent = { kind: "fault", at: 1_000, name: "no Redis", phase: "ends" };

  test("the invariant holds when all requests are refused, except those admitted before", () => {
    const before = [invoked(90, "a"), admitted(95, "a"), begins, called(160, "a"), answered(170, "a")];
    const history = [...before, invoked(200, "b"), refused(201, "b", "billing_unavailable"), ends, ...generation(1_001, "c")];
    expect(failClosed(history)).toEqual({ checks: 2, broken: [] });
  });

  test("the checker accepts a 401 only for a revoked key", () => {
    const unauthorized = { status: 401, code: "invalid_api_key", generation: null, whole: false };
    const refusal = [invoked(160, "a"), answered(170, "a", unauthorized)];
    expect(failClosed([{ kind: "revoked", at: 1, key: "k" }, begins, ...refusal])).toEqual({ checks: 1, broken: [] });
    expect(failClosed([begins, ...refusal]).broken.join()).toContain("401 invalid_api_key");
  });

  test("the checker accepts a 429 only for a request with an idempotency key", () => {
    const limited = answered(170, "a", { status: 429, code: "rate_limited", generation: null, whole: false });
    expect(failClosed([begins, { ...invoked(160, "a"), isKeyed: true } as HistoryEvent, limited]).broken).toEqual([]);
    expect(failClosed([begins, invoked(160, "a"), limited]).broken.join()).toContain("429 rate_limited");
  });

  test("the checker ignores a fault that does not close admission", () => {
    expect(failClosed([{ kind: "fault", at: 1, name: "slow", phase: "begins" }, ...generation(200, "a")]).checks).toBe(0);
  });

  test.each<[string, History, string]>([
    [
      "a request is admitted and its provider called",
      [admitted(160, "a"), called(170, "a")],
      'requested at 160 and called at 170, although "no Redis" closed admission at 150',
    ],
    ["a request is answered", [invoked(160, "a"), answered(170, "a")], "a: 200 null"],
    ["a request is refused with another code", [invoked(160, "a"), refused(170, "a", "rate_limited")], "429 rate_limited"],
  ])("the checker reports it when %s", (_, history, problem) => {
    expect(failClosed([begins, ...history, ends]).broken.join()).toContain(problem);
  });
});

describe("I-13, the service recovers within 5 s", () => {
  const healed: HistoryEvent = { kind: "healed", at: 1_000 };
  const quiet = (fields = {}): HistoryEvent => ({
    kind: "quiet",
    at: 9_000,
    unsettled: 0,
    backlog: 0,
    unknownAdmissions: 0,
    ...fields,
  });

  test("the invariant holds when an answer comes in time and no work remains", () => {
    const history = [answered(900, "a"), healed, refused(1_500, "b", "billing_unavailable"), answered(6_000, "c"), quiet()];
    expect(recovery(history)).toEqual({ checks: 2, broken: [] });
    expect(recoveries(history)).toEqual([{ at: 1_000, ms: 5_000 }]);
  });

  test.each<[string, History, string]>([
    ["the first answer is late", [healed, answered(6_001, "c"), quiet()], "after 5001 ms"],
    ["there is no answer", [answered(900, "a"), healed, quiet()], "after Infinity ms"],
    ["a generation stays unsettled", [healed, answered(1_001, "c"), quiet({ unsettled: 1 })], "1 unsettled"],
    ["events stay in the stream", [healed, answered(1_001, "c"), quiet({ backlog: 2 })], "2 events"],
    ["a hold remains", [healed, answered(1_001, "c"), quiet({ held: 1 })], "1 holds remain"],
    ["it never becomes quiet", [healed, answered(1_001, "c")], "never became quiet"],
  ])("the checker reports it when %s", (_, history, problem) => {
    expect(recovery(history).broken.join()).toContain(problem);
  });
});
