import { describe, expect, test } from "bun:test";
import { claimMs } from "../../src/backing/limits.ts";
import { idempotencyMs } from "../../src/gateway/limits.ts";
import { oneCharge } from "./checks/one-charge.ts";
import { admitted, called, charged } from "./example-events.ts";
import type { Charged, History, HistoryEvent } from "./history.ts";

const claim = "claim-1";

/** A generation with the key, from its admission to its end, in three milliseconds. */
function keyed(at: number, generation: string, end: Partial<Charged> = { hasLeft: true }): HistoryEvent[] {
  return [
    admitted(at, generation, { claim }),
    called(at + 1, generation),
    charged(at + 2, generation, { admittedAt: at, ...end }),
  ];
}

const free = { cost: 0n };

describe("I-23, one idempotency key is charged once", () => {
  test("the invariant holds when a second one runs after the first has ended and left nothing", () => {
    expect(oneCharge([...keyed(1, "a", free), ...keyed(10, "b")])).toEqual({ checks: 2, broken: [] });
    const others = [...keyed(1, "a"), admitted(2, "b"), called(3, "b"), charged(4, "b"), admitted(5, "c", { claim: "claim-2" })];
    expect(oneCharge(others).broken).toEqual([]);
  });

  test("the invariant holds when a key is charged again a day later", () => {
    const later = keyed(idempotencyMs + 1, "b");
    expect(oneCharge([...keyed(1, "a", { cost: 50n }), ...later]).broken).toEqual([]);
    expect(oneCharge([...keyed(2, "a", { cost: 50n }), ...later]).broken.join()).toContain("charged twice, for a 50 and b 50");
  });

  test("the invariant holds when a generation that had expired is charged nothing in the end", () => {
    const expired = keyed(1, "a", { ...free, outcome: "expired" });
    const late = (cost: bigint): HistoryEvent => charged(30, "a", { admittedAt: 1, cost, late: true });
    expect(oneCharge([...expired, ...keyed(10, "b"), late(0n)]).broken).toEqual([]);
    expect(oneCharge([...expired, ...keyed(10, "b"), late(1n)]).broken).toEqual(["claim-1: charged twice, for a 1 and b 50"]);
  });

  test.each<[string, History, string]>([
    ["before the first is over", [...keyed(1, "a", free).slice(0, 2), ...keyed(10, "b")], "although a with its key was not over"],
    ["although the first left something", [...keyed(1, "a"), ...keyed(10, "b", free)], "although a with its key was spent on it"],
  ])("the checker reports a provider that is called %s", (_, history, problem) => {
    expect(oneCharge(history).broken).toEqual([expect.stringContaining(`b: called at 11, ${problem}`)]);
  });

  test("one without an end keeps a key for as long as the counters remember it, by their clock", () => {
    const open = keyed(1, "a").slice(0, 2);
    const second = (afterMs: number): History => [admitted(10, "b", { claim, admittedAt: 1 + afterMs }), called(11, "b")];
    expect(oneCharge([...open, ...second(claimMs)]).broken).toEqual([]);
    expect(oneCharge([...open, ...second(claimMs - 1)]).broken).toEqual([
      expect.stringContaining("although a with its key was not over"),
    ]);
  });

  test("what database and stream have both lost is excepted", () => {
    const first = keyed(1, "a");
    const end = first.at(-1) as Charged & { at: number };
    const lost: HistoryEvent[] = [
      { kind: "restored", at: 5, lost: [end] },
      { kind: "events lost", at: 6, generations: ["a"] },
    ];
    expect(oneCharge([...first, ...lost, ...keyed(10, "b")]).broken).toEqual([]);
  });
});
