import { describe, expect, test } from "bun:test";
import type { AdmitReply, AdmitRequest, Budget, BudgetPush } from "../../../src/backing/counters.ts";
import { dayOf, monthBounds, monthOf } from "../../../src/kernel/clock.ts";
import { budgetText, type CountersHarness } from "../../support/counters/harness.ts";
import { hold, makeReady, nextMonth, pushAccount, request, resolve, thisMonth } from "./calls.ts";

const dayMs = 86_400_000;
const keyDay: Budget = { name: "day:k1", period: "day", limit: 25n, refusal: "key_spend_limit_exceeded" };
const spaceDay: Budget = { name: "day:", period: "day", limit: 35n, refusal: "account_spend_limit_exceeded" };
const memberMonth: Budget = { name: "month:m1", period: "month", limit: 45n, refusal: "account_spend_limit_exceeded" };
const all = [keyDay, spaceDay, memberMonth];

/** Sends a request as a worker does that assumes the day of the store's clock. */
async function admit(
  harness: CountersHarness,
  change: Partial<AdmitRequest> = {},
  day = dayOf(harness.now()),
): Promise<AdmitReply | undefined> {
  const month = monthOf(harness.now());
  const { replies } = await harness.counters.admitMany({ month, day, requests: [request({ budgets: all, ...change })] });
  return replies[0];
}

async function push(harness: CountersHarness, totals: Partial<BudgetPush>[]): Promise<void> {
  const now = harness.now();
  const budgets = totals.map((total) => {
    const since = total.name?.startsWith("month:") ? monthBounds(monthOf(now)).startMs : dayOf(now);
    return { workspace: "w1", name: "day:k1", since, spent: 0n, sequence: 1n, ...total };
  });
  await harness.counters.resolveMany({ resolve: [], accounts: [], keyMonths: [], budgets });
}

async function open(harness: CountersHarness): Promise<void> {
  await makeReady(harness);
  await push(
    harness,
    all.map(({ name }) => ({ name })),
  );
}

export function describeBudgets(of: () => CountersHarness): void {
  describe("budgets", () => {
    test("reservations and charges count against each budget, and the first that would be passed is named", async () => {
      await open(of());
      const refused: AdmitReply["outcome"][] = [];
      for (const one of [keyDay, spaceDay, memberMonth]) {
        while ((await admit(of(), { budgets: all.slice(all.indexOf(one)) }))?.outcome === "admitted");
        const reply = await admit(of(), { budgets: all.slice(all.indexOf(one)) });
        expect(reply).toMatchObject({ outcome: one.refusal, budget: one.name, headroom: 5n });
        refused.push(reply?.outcome ?? "late");
      }
      expect(refused).toEqual([keyDay, spaceDay, memberMonth].map(({ refusal }) => refusal));
      expect(await of().counters.holds("w1")).toHaveLength(4);
      await push(of(), [{ spent: 21n, sequence: 2n }]);
      expect(await admit(of(), { budgets: [keyDay], amount: 0n })).toMatchObject({
        outcome: "key_spend_limit_exceeded",
        headroom: 0n,
      });
    });

    test("the limits of the month come first, and a refusal changes nothing", async () => {
      await open(of());
      await admit(of(), { generation: "gen-open" });
      const before = await of().dump("w1");
      expect(await admit(of(), { amount: 40n, keyLimit: 20n })).not.toHaveProperty("budget");
      expect(await admit(of(), { amount: 40n })).toMatchObject({ budget: "day:k1", headroom: 15n });
      expect(await of().dump("w1")).toEqual(before);
    });

    test("exactly as many of many concurrent requests are admitted as the budget covers", async () => {
      await open(of());
      const replies = await Promise.all(Array.from({ length: 20 }, () => admit(of())));
      expect(replies.filter((reply) => reply?.outcome === "admitted")).toHaveLength(2);
    });

    test("a released hold frees its budgets, and a charge that is pushed counts instead", async () => {
      await open(of());
      await admit(of(), { generation: "gen-a" });
      await admit(of(), { generation: "gen-b" });
      await push(of(), [{ spent: 4n, sequence: 2n }]);
      expect(await resolve(of().counters, "gen-a")).toBe(10n);
      expect(await admit(of(), { amount: 12n })).toMatchObject({ budget: "day:k1", headroom: 11n });
      expect(await resolve(of().counters, "gen-b")).toBe(10n);
      expect(await admit(of(), { amount: 21n })).toMatchObject({ outcome: "admitted" });
    });

    test("an unknown total is asked for, and older values do not replace newer ones", async () => {
      await makeReady(of(), { sequence: 5n });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "budget" });
      await push(of(), [
        { name: "day:", sequence: 9n },
        { name: "month:m1", sequence: 9n },
      ]);
      await push(of(), [{ spent: 20n, sequence: 4n }]);
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "budget" });
      await push(of(), [{ spent: 20n, sequence: 6n }]);
      await push(of(), [{ spent: 0n, sequence: 5n }]);
      expect(await admit(of())).toMatchObject({ budget: "day:k1", headroom: 5n });
    });

    test("a new day needs its own total, and holds of the day before count no longer", async () => {
      await open(of());
      await admit(of(), { generation: "gen-yesterday", amount: 20n });
      await of().advance(dayOf(of().now()) + dayMs - 1 - of().now());
      expect(await admit(of(), { amount: 6n })).toMatchObject({ budget: "day:k1" });
      await of().advance(1);
      expect(await admit(of(), {}, dayOf(of().now() - 1))).toEqual({ outcome: "wrong_month", now: of().now() });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "budget" });
      await push(of(), [{ name: "day:k1" }, { name: "day:" }]);
      expect(await admit(of(), { amount: 25n })).toMatchObject({ outcome: "admitted" });
      expect(await resolve(of().counters, "gen-yesterday")).toBe(20n);
      expect(await admit(of(), { amount: 1n })).toMatchObject({ budget: "day:k1", headroom: 0n });
    });

    test("a clock that is set back over midnight frees no budget: the request counts for the later day", async () => {
      await open(of());
      await of().advance(dayOf(of().now()) + dayMs - of().now());
      await push(of(), [{ name: "day:k1" }, { name: "day:" }]);
      await admit(of(), { amount: 20n });
      const midnight = of().now();
      await of().advance(-1);
      expect(await admit(of(), { amount: 6n })).toMatchObject({ budget: "day:k1", headroom: 5n });
      expect(await admit(of(), { amount: 5n })).toMatchObject({ outcome: "admitted", at: midnight });
    });

    test("a load restores the totals, and its holds count against the budgets that they name", async () => {
      const since = dayOf(of().now());
      const account = { workspace: "w1", balance: 1_000n, sequence: 3n, months: [{ month: thisMonth, spent: 0n }] };
      const totals = [
        { name: "day:k1", since, spent: 9n },
        { name: "day:", since, spent: 9n },
        { name: "month:m1", since: monthBounds(thisMonth).startMs, spent: 9n },
      ];
      const held = hold(of(), { generation: "gen-held", budgets: [{ name: "day:k1", since }] });
      await of().counters.load({ account, budgets: totals, holds: [held, hold(of())], windows: [] });
      await of().counters.resolveMany({
        resolve: [],
        accounts: [],
        keyMonths: [{ workspace: "w1", key: "k1", month: thisMonth, spent: 0n, version: 1n, sequence: 3n }],
      });
      expect(await of().counters.holds("w1")).toContainEqual(held);
      expect(await admit(of(), { amount: 7n })).toMatchObject({ budget: "day:k1", headroom: 6n });
      await resolve(of().counters, "gen-held");
      expect(await admit(of(), { amount: 16n })).toMatchObject({ outcome: "admitted" });
    });

    test("a month that begins forgets only periods that no reservation can count in", async () => {
      await open(of());
      await admit(of(), { generation: "gen-late" });
      const yesterday = dayOf(of().now());
      await of().advance(yesterday + dayMs - of().now());
      await push(of(), [{ name: "day:k1" }, { name: "day:" }]);
      await pushAccount(of().counters, { balance: 1_000n, sequence: 2n, month: nextMonth });
      await push(of(), [{ since: yesterday, spent: 9n, sequence: 3n }]);
      await resolve(of().counters, "gen-late");
      const totalOf = async (since: number) => (await of().dump("w1")).totals[budgetText({ name: "day:k1", since })];
      expect(await totalOf(yesterday + dayMs)).toMatchObject({ held: "0" });
      expect(await totalOf(yesterday)).toBeUndefined();

      await of().advance(62 * dayMs);
      await pushAccount(of().counters, { balance: 1_000n, sequence: 4n, month: monthOf(of().now()) });
      expect(await totalOf(yesterday + dayMs)).toBeUndefined();
      await push(of(), [{ since: yesterday + dayMs, sequence: 5n }]);
      expect(await totalOf(yesterday + dayMs)).toBeUndefined();
    });

    test("a workspace without budgets has no value of them", async () => {
      await makeReady(of());
      await of().counters.admitMany({ month: thisMonth, requests: [request()] });
      expect(Object.keys((await of().dump("w1")).totals).toSorted()).toEqual([":2026-11", "k1:2026-11"]);
    });
  });
}
