import { describe, expect, test } from "bun:test";
import { creditedOnce } from "./checks/credited-once.ts";
import type { History, HistoryEvent } from "./history.ts";

function paid(at: number, payment: string, amount = 100n, cap: bigint | null = 250n): HistoryEvent {
  return { kind: "paid", at, workspace: "w", payment, amount, automatic: cap === null ? null : { month: "2026-11", cap } };
}

function credited(at: number, payment: string | null, amount = 100n): HistoryEvent {
  return { kind: "credited", at, workspace: "w", amount, payment };
}

function kept(amount: bigint): HistoryEvent {
  return { kind: "kept", at: 99, workspace: "w", amount };
}

describe("I-21, each card payment is credited once", () => {
  const history = [paid(1, "a"), credited(2, "a"), paid(3, "b"), credited(4, "b")];

  test("the invariant holds for payments one after the other up to the cap, and for what is taken back and returns", () => {
    const taken = [credited(5, null, -30n), credited(6, null, 10n), kept(180n)];
    expect(creditedOnce([...history, ...taken])).toEqual({ checks: 9, broken: [] });
    expect(creditedOnce([paid(1, "a", 900n, null), paid(2, "b"), credited(3, "b"), credited(4, "a", 900n)]).broken).toEqual([]);
  });

  test.each<[string, History, string]>([
    [
      "a payment is credited twice",
      [...history, credited(5, "b")],
      "b: Stripe has 100 for w, where it is credited as 100 and 100",
    ],
    ["a payment is not credited", [paid(1, "a")], "credited as nothing"],
    ["another amount is credited", [paid(1, "a"), credited(2, "a", 99n)], "credited as 99"],
    ["credit has no payment", [...history, credited(5, "c")], "c: credited in w, but Stripe has no such payment"],
    ["two automatic payments are under way", [paid(1, "a"), paid(2, "b"), credited(3, "a"), credited(4, "b")], "its a was not"],
    ["the cap is passed", [...history, paid(5, "c"), credited(6, "c")], "c: w paid 300 in 2026-11, above 250"],
    ["a refund is lost", [...history, kept(150n)], "w: Stripe kept 150 of its payments, but the ledger has 200"],
  ])("the checker reports it when %s", (_, events, problem) => {
    const { broken } = creditedOnce(events);
    expect(broken).toHaveLength(1);
    expect(broken.join()).toContain(problem);
  });
});
