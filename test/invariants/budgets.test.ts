import { describe, expect, test } from "bun:test";
import { reconcileMs } from "../../src/gateway/limits.ts";
import { budgetsHold } from "./checks/budgets.ts";
import { admitted, charged } from "./example-events.ts";
import type { History, HistoryEvent } from "./history.ts";

const dayMs = 86_400_000;

function budget(at: number, limit: bigint | null): HistoryEvent {
  return { kind: "budget", at, workspace: "w", name: "day:k", keys: ["k"], limit };
}

function settled(at: number, generation: string, cost: bigint): HistoryEvent {
  return charged(at, generation, { cost, admittedAt: at });
}

describe("I-20, no day or month passes its budget", () => {
  const history = [budget(0, 400n), admitted(1, "gen-1"), admitted(2, "gen-2"), settled(3, "gen-1", 50n)];

  test("the invariant holds up to the budget, and each day has its own", () => {
    expect(budgetsHold(history, 0)).toEqual({ checks: 2, broken: [] });
    expect(budgetsHold([...history, admitted(dayMs, "gen-3")], 0).broken).toEqual([]);
  });

  test.each<[string, History]>([
    ["a reservation above it", [admitted(4, "gen-3")]],
    ["charges that fill it", [settled(4, "gen-2", 250n), admitted(5, "gen-3")]],
  ])("the checker reports %s", (_, events) => {
    expect(budgetsHold([...history, ...events], 0).broken).toHaveLength(1);
  });

  test("what was admitted before the budget was known counts a minute after it is charged", () => {
    const before = [budget(0, null), admitted(1, "gen-0", { amount: 300n }), budget(2, 400n)];
    expect(budgetsHold([...before, admitted(31_000, "gen-1")], 0)).toEqual({ checks: 1, broken: [] });
    const charge = settled(30_500, "gen-0", 300n);
    expect(budgetsHold([...before, charge, admitted(30_499 + reconcileMs, "gen-1")], 0).broken).toEqual([]);
    expect(budgetsHold([...before, charge, admitted(30_500 + reconcileMs, "gen-1")], 0).broken).toHaveLength(1);
  });
});
