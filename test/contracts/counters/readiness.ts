import { describe, expect, test } from "bun:test";
import { monthBounds } from "../../../src/kernel/clock.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { admit, hold, makeReady, nextMonth, pushAccount, pushKey, request, resolve, thisMonth } from "./words.ts";

export function describeReadiness(of: () => CountersHarness): void {
  describe("readiness", () => {
    test("admits nothing for a workspace that it knows nothing of", async () => {
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      expect(await of().counters.read("w1", "k1")).toEqual({ now: of().now(), account: null, keySpent: null });
    });

    test("is not made ready by a push alone", async () => {
      await pushAccount(of().counters, { balance: 1_000n, sequence: 1n });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
    });

    test("asks for what a key spent in the month, and admits once it was told", async () => {
      await of().counters.load({
        account: { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] },
        holds: [],
        windows: [],
      });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "key" });
      await pushKey(of().counters, {});
      expect(await admit(of())).toMatchObject({ outcome: "admitted", available: 990n });
    });

    test("asks for a new month's totals, and keeps the holds of the month before", async () => {
      await makeReady(of());
      expect(await admit(of())).toMatchObject({ outcome: "admitted", month: thisMonth });
      await of().advance(monthBounds(thisMonth).endMs - of().now());
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "month" });
      await pushAccount(of().counters, { balance: 1_000n, sequence: 1n, month: nextMonth });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "key" });
      await pushKey(of().counters, { month: nextMonth });
      expect(await admit(of())).toMatchObject({ outcome: "admitted", month: nextMonth, available: 980n });
      expect(await of().counters.holds("w1")).toHaveLength(2);
    });

    test("lets the first of two loaders win", async () => {
      await makeReady(of(), { balance: 50n, sequence: 7n });
      await makeReady(of(), { balance: 9_999n, sequence: 8n });
      expect((await of().counters.read("w1", "k1")).account).toMatchObject({ balance: 50n, sequence: 7n });
    });

    test("forgets a workspace whose ledger does not have what its balance stems from, and no other", async () => {
      await makeReady(of(), { balance: 50n, sequence: 7n });
      expect(await of().counters.forget("w1", 8n)).toBe(false);
      expect((await of().counters.read("w1", "k1")).account).toMatchObject({ sequence: 7n });
      expect(await of().counters.forget("w1", 7n)).toBe(true);
      expect(await of().counters.forget("w1", 7n)).toBe(false);
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      expect(await of().counters.beginLoad("w1")).not.toBeNull();
      await makeReady(of(), { balance: 20n, sequence: 3n });
      expect((await of().counters.read("w1", "k1")).account).toMatchObject({ balance: 20n, sequence: 3n });
    });

    test.each(["wipe", "restart"] as const)("refuses what was gathered before another load and a %s", async (loss) => {
      const begun = (await of().counters.beginLoad("w1")) ?? "";
      expect(await of().counters.beginLoad("w1")).toBe(begun);
      const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      const load = () => of().counters.load({ begun, account, holds: [], windows: [] });
      await load();
      expect(await of().counters.beginLoad("w1")).toBeNull();
      await load();
      await of()[loss]();
      await expect(load()).rejects.toThrow('Cannot load workspace "w1"');
      expect(await of().counters.beginLoad("w1")).not.toBe(begun);
      await expect(load()).rejects.toThrow("since this load was begun");
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
    });

    test("knows nothing any more when the store was emptied", async () => {
      await makeReady(of());
      await admit(of());
      await of().wipe();
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      expect(await of().counters.holds("w1")).toEqual([]);
    });

    test("verifies after a restart what it still has: windows stay, holds are told, months are read anew", async () => {
      await makeReady(of());
      await admit(of(), { generation: "gen-before" });
      await of().restart();
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      const holds = await of().counters.holds("w1");
      expect(holds).toMatchObject([{ generation: "gen-before", amount: 10n, key: "k1", month: thisMonth, fingerprint: "f00d" }]);
      const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds, windows: [] });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "key" });
      await pushKey(of().counters, {});
      expect(await admit(of())).toMatchObject({ outcome: "admitted", available: 980n, window: { remaining: 58 } });
      expect(await admit(of(), { generation: "gen-before" })).toMatchObject({
        outcome: "admitted",
        replay: true,
        available: 980n,
      });
    });

    test("takes over the holds it is given, once each, but for those that were resolved meanwhile", async () => {
      const [open, ended] = [hold(of()), hold(of())];
      await resolve(of().counters, ended.generation);
      const account = { workspace: "w1", balance: 100n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds: [open, ended, open], windows: [] });
      expect(await of().counters.holds("w1")).toEqual([open]);
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 10n, available: 90n });
      expect(await resolve(of().counters, open.generation)).toBe(10n);
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 0n, available: 100n });
    });

    test("forgets holds that a loader does not give back: they have ended in the ledger", async () => {
      await makeReady(of());
      await admit(of());
      await of().restart();
      await makeReady(of());
      expect(await of().counters.holds("w1")).toEqual([]);
      expect((await of().dump("w1")).deadlines).toEqual({});
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 0n });
    });

    test("keeps a balance that was pushed after the loader had read the ledger", async () => {
      await pushAccount(of().counters, { balance: 40n, sequence: 8n, spent: 60n });
      await makeReady(of(), { balance: 100n, sequence: 7n, spent: 0n });
      expect((await of().counters.read("w1", null)).account).toMatchObject({ balance: 40n, sequence: 8n });
      expect(await admit(of(), { workspaceLimit: 69n })).toMatchObject({ outcome: "account_spend_limit_exceeded", headroom: 9n });
    });

    test("adds reported admissions to a window: of each time the larger count", async () => {
      const now = of().now();
      await makeReady(of());
      await admit(of());
      await admit(of());
      await of().restart();
      const times = [now - 60_000, now - 59_999, now - 5, now - 5, now];
      const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds: [], windows: [{ key: "k1", times: times.toReversed() }] });
      await pushKey(of().counters, {});
      expect((await of().dump("w1")).windows).toEqual({ k1: [now - 59_999, now - 5, now - 5, now, now] });
      expect(await admit(of(), { requestsPerMinute: 5 })).toMatchObject({ outcome: "rate_limited", retryAfterMs: 1 });
    });

    test("takes over many thousand holds", async () => {
      const holds = Array.from({ length: 5_000 }, () => hold(of())).toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
      const account = { workspace: "w1", balance: 100_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds, windows: [] });
      expect(await of().counters.holds("w1")).toEqual(holds);
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 50_000n, available: 50_000n });
      const resolves = holds.map(({ generation }) => ({ workspace: "w1", generation, as: "unknown" as const }));
      const freed = await of().counters.resolveMany({ resolve: resolves, accounts: [], keyMonths: [] });
      expect(freed).toEqual(holds.map(() => 10n));
    });

    test("takes over windows of many thousand admissions", async () => {
      const now = of().now();
      const times = Array.from({ length: 10_000 }, (_, index) => now - 59_999 + index * 5);
      const windows = ["k1", "k2", "k3", "k4", "k5"].map((key) => ({ key, times }));
      const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds: [], windows });
      expect((await of().dump("w1")).windows).toEqual(Object.fromEntries(windows.map(({ key }) => [key, times])));
    });

    test("refuses to load a balance above 9,000,000 USD, and counts a pushed one as that", async () => {
      const most = 9_000_000_000_000_000n;
      expect(makeReady(of(), { balance: most + 1n })).rejects.toThrow(RangeError);
      await makeReady(of(), { balance: most, sequence: 1n });
      await pushAccount(of().counters, { balance: most * 100n, sequence: 2n });
      expect((await of().counters.read("w1", null)).account).toMatchObject({ balance: most, sequence: 2n });
      expect(await admit(of(), { amount: most })).toMatchObject({ outcome: "admitted", available: 0n, amount: most });
      expect(await admit(of(), { amount: 1n })).toMatchObject({ outcome: "insufficient_credit", available: 0n, balance: most });
    });

    test("keeps workspaces apart, and answers a batch in its order", async () => {
      await makeReady(of(), { workspace: "w1", balance: 10n });
      await makeReady(of(), { workspace: "w2", balance: 20n });
      const asked = ["w1", "w2", "w3", "w1", "w2", "w2"].map((workspace) => request({ workspace }));
      const { replies } = await of().counters.admitMany({ month: thisMonth, requests: asked });
      const told = replies.map((reply) => [reply.outcome, "available" in reply ? reply.available : null]);
      expect(told).toEqual([
        ["admitted", 0n],
        ["admitted", 10n],
        ["not_ready", null],
        ["insufficient_credit", 0n],
        ["admitted", 0n],
        ["insufficient_credit", 0n],
      ]);
      expect((await of().counters.admitMany({ month: thisMonth, requests: [] })).replies).toEqual([]);
    });
  });
}
