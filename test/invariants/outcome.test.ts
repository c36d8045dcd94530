import { describe, expect, test } from "bun:test";
import { failClosed } from "./fail-closed.ts";
import type { History, HistoryEvent } from "./history.ts";
import { recoveries, recovery } from "./recovery.ts";
import { refusalsChangeNothing } from "./refusals-change-nothing.ts";
import { admitted, answered, called, generation, invoked, refused } from "./example-events.ts";

describe("I-7, refusals change nothing", () => {
  const inspected = (after: unknown): History => [{ kind: "inspected", at: 1, why: "429", before: { reserved: 1n }, after }];

  test("holds where before and after are the same", () => {
    expect(refusalsChangeNothing(inspected({ reserved: 1n }))).toEqual({ checks: 1, broken: [] });
  });

  test("says so when something moved", () => {
    expect(refusalsChangeNothing(inspected({ reserved: 2n })).broken).toEqual([
      '429 at 1: {"reserved":"1"} became {"reserved":"2"}',
    ]);
  });
});

describe("I-12, what cannot be checked is refused", () => {
  const begins: HistoryEvent = { kind: "fault", at: 100, name: "no Redis", phase: "begins", closesAfterMs: 50 };
  const ends: HistoryEvent = { kind: "fault", at: 1_000, name: "no Redis", phase: "ends" };

  test("holds where all are refused, after what was admitted before has gone its way", () => {
    const before = [invoked(90, "a"), admitted(95, "a"), begins, called(160, "a"), answered(170, "a")];
    const history = [...before, invoked(200, "b"), refused(201, "b", "billing_unavailable"), ends, ...generation(1_001, "c")];
    expect(failClosed(history)).toEqual({ checks: 2, broken: [] });
  });

  test("takes it that a revoked key is known as one, and no other", () => {
    const told = { status: 401, code: "invalid_api_key", generation: null, whole: false };
    const refusal = [invoked(160, "a"), answered(170, "a", told)];
    expect(failClosed([{ kind: "revoked", at: 1, key: "k" }, begins, ...refusal])).toEqual({ checks: 1, broken: [] });
    expect(failClosed([begins, ...refusal]).broken.join()).toContain("401 invalid_api_key");
  });

  test("lets a fault that closes nothing pass", () => {
    expect(failClosed([{ kind: "fault", at: 1, name: "slow", phase: "begins" }, ...generation(200, "a")]).checks).toBe(0);
  });

  test.each<[string, History, string]>([
    [
      "somebody is admitted and called",
      [admitted(160, "a"), called(170, "a")],
      "asked for at 160 and called at 170, where no Redis closed at 150",
    ],
    ["somebody is answered", [invoked(160, "a"), answered(170, "a")], "a: 200 null"],
    ["somebody is refused in another way", [invoked(160, "a"), refused(170, "a", "rate_limited")], "429 rate_limited"],
  ])("says so when %s", (_, history, problem) => {
    expect(failClosed([begins, ...history, ends]).broken.join()).toContain(problem);
  });
});

describe("I-13, healing is felt within 5 s", () => {
  const healed: HistoryEvent = { kind: "healed", at: 1_000 };
  const quiet = (fields = {}): HistoryEvent => ({
    kind: "quiet",
    at: 9_000,
    unsettled: 0,
    backlog: 0,
    unknownAdmissions: 0,
    ...fields,
  });

  test("holds where an answer flows in time and nothing is left", () => {
    const history = [answered(900, "a"), healed, refused(1_500, "b", "billing_unavailable"), answered(6_000, "c"), quiet()];
    expect(recovery(history)).toEqual({ checks: 2, broken: [] });
    expect(recoveries(history)).toEqual([{ at: 1_000, ms: 5_000 }]);
  });

  test.each<[string, History, string]>([
    ["the first answer is late", [healed, answered(6_001, "c"), quiet()], "after 5001 ms"],
    ["there is no answer", [answered(900, "a"), healed, quiet()], "after Infinity ms"],
    ["something stays unsettled", [healed, answered(1_001, "c"), quiet({ unsettled: 1 })], "1 unsettled"],
    ["events stay in the stream", [healed, answered(1_001, "c"), quiet({ backlog: 2 })], "2 events"],
    ["something is held for nobody", [healed, answered(1_001, "c"), quiet({ held: 1 })], "1 amounts are still set aside"],
    ["it never becomes quiet", [healed, answered(1_001, "c")], "never became quiet"],
  ])("says so when %s", (_, history, problem) => {
    expect(recovery(history).broken.join()).toContain(problem);
  });
});
