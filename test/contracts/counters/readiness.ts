import { describe, expect, test } from "bun:test";
import { CountersUnavailableError, type WorkspaceLoad } from "../../../src/backing/counters.ts";
import { monthBounds } from "../../../src/kernel/clock.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { until } from "../../support/until.ts";
import { admit, hold, makeReady, nextMonth, pushAccount, pushKey, request, resolve, thisMonth } from "./calls.ts";

export function describeReadiness(of: () => CountersHarness): void {
  describe("readiness", () => {
    test("nothing is admitted for an unknown workspace", async () => {
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      expect(await of().counters.read("w1", "k1")).toEqual({
        now: of().now(),
        account: null,
        keySpent: null,
        lent: 0n,
        blocks: new Map(),
      });
    });

    test("a push does not make a workspace ready", async () => {
      await pushAccount(of().counters, { balance: 1_000n, sequence: 1n });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
    });

    test("the counters ask for a key's spending in the month, and admit when they have it", async () => {
      await of().counters.load({
        account: { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] },
        holds: [],
        windows: [],
      });
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "key" });
      await pushKey(of().counters, {});
      expect(await admit(of())).toMatchObject({ outcome: "admitted", available: 990n });
    });

    test("the counters ask for a new month's totals, and keep the holds of the previous month", async () => {
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

    test("the first of two loaders wins", async () => {
      await makeReady(of(), { balance: 50n, sequence: 7n });
      await makeReady(of(), { balance: 9_999n, sequence: 8n });
      expect((await of().counters.read("w1", "k1")).account).toMatchObject({ balance: 50n, sequence: 7n });
    });

    test("the counters forget only a workspace whose balance has the named sequence, and keep its holds for the next load", async () => {
      await makeReady(of(), { balance: 50n, sequence: 7n });
      expect(await admit(of())).toMatchObject({ outcome: "admitted" });
      expect(await of().counters.forget("w1", 8n)).toBe(false);
      expect((await of().counters.read("w1", "k1")).account).toMatchObject({ sequence: 7n });
      expect(await of().counters.forget("w1", 7n)).toBe(true);
      expect(await of().counters.forget("w1", 7n)).toBe(false);
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      expect(await of().counters.holds("w1")).toHaveLength(1);
      const begun = (await of().counters.beginLoad("w1")) ?? "";
      expect(await of().counters.forget("w1", 7n)).toBe(false);
      const account = { workspace: "w1", balance: 99n, sequence: 7n, months: [] };
      await expect(of().counters.load({ begun, account, holds: [], windows: [] })).rejects.toThrow("since this load began");
      await makeReady(of(), { balance: 20n, sequence: 8n });
      expect((await of().counters.read("w1", "k1")).account).toMatchObject({ balance: 20n, sequence: 8n });
    });

    test("counters that were loaded before an admission count it, unless the clock was set back since", async () => {
      await makeReady(of());
      await of().advance(5);
      const admittedAt = of().now();
      expect(await of().counters.forget("w1", 0n, admittedAt)).toBe(false);
      expect(await admit(of())).toMatchObject({ outcome: "admitted" });
      await of().advance(-1);
      expect(await of().counters.forget("w1", 0n, admittedAt)).toBe(true);
      await makeReady(of());
      await of().advance(60_000);
      expect(await of().counters.forget("w1", 0n, admittedAt - 2)).toBe(true);
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
    });

    test.each(["wipe", "restart"] as const)("a load that was gathered before another load and a %s is refused", async (loss) => {
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
      await expect(load()).rejects.toThrow("since this load began");
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
    });

    test("the counters know nothing after their store was emptied", async () => {
      await makeReady(of());
      await admit(of());
      await of().wipe();
      expect(await admit(of())).toEqual({ outcome: "not_ready", what: "workspace" });
      expect(await of().counters.holds("w1")).toEqual([]);
    });

    test("after a restart windows stay, holds are reported to the loader, and months are read again", async () => {
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

    test("a load adds each given hold once, except those that were resolved meanwhile", async () => {
      const [open, ended] = [hold(of()), hold(of())];
      await resolve(of().counters, ended.generation);
      const account = { workspace: "w1", balance: 100n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds: [open, ended, open], windows: [] });
      expect(await of().counters.holds("w1")).toEqual([open]);
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 10n, available: 90n });
      expect(await resolve(of().counters, open.generation)).toBe(10n);
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 0n, available: 100n });
    });

    test("a load removes holds that the loader does not return, since they have ended in the ledger", async () => {
      await makeReady(of());
      await admit(of());
      await of().restart();
      await makeReady(of());
      expect(await of().counters.holds("w1")).toEqual([]);
      expect((await of().dump("w1")).deadlines).toEqual({});
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 0n });
    });

    test("a balance that was pushed after the loader read the ledger stays", async () => {
      await pushAccount(of().counters, { balance: 40n, sequence: 8n, spent: 60n });
      await makeReady(of(), { balance: 100n, sequence: 7n, spent: 0n });
      expect((await of().counters.read("w1", null)).account).toMatchObject({ balance: 40n, sequence: 8n });
      expect(await admit(of(), { workspaceLimit: 69n })).toMatchObject({ outcome: "account_spend_limit_exceeded", headroom: 9n });
    });

    test("a load merges reported admissions into a window, with the larger count for each time", async () => {
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

    /** Sends a load again that its deadline ended, as workers do: while other suites run, a large one can take longer. */
    async function loaded(load: WorkspaceLoad): Promise<void> {
      await until(async () => {
        try {
          await of().counters.load(load);
          return true;
        } catch (error) {
          if (error instanceof CountersUnavailableError) return false;
          throw error;
        }
      });
    }

    test("a load can have many thousand holds", async () => {
      const holds = Array.from({ length: 3_000 }, () => hold(of())).toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
      const account = { workspace: "w1", balance: 100_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await loaded({ account, holds, windows: [] });
      expect(await of().counters.holds("w1")).toEqual(holds);
      expect((await of().counters.read("w1", null)).account).toMatchObject({ reserved: 30_000n, available: 70_000n });
      const resolves = holds.map(({ generation }) => ({ workspace: "w1", generation, as: "unknown" as const }));
      const freed = await of().counters.resolveMany({ resolve: resolves, accounts: [], keyMonths: [] });
      expect(freed).toEqual(holds.map(() => 10n));
    });

    test("a load can have windows of many thousand admissions", async () => {
      const now = of().now();
      const times = Array.from({ length: 10_000 }, (_, index) => now - 59_999 + index * 5);
      const windows = ["k1", "k2", "k3", "k4", "k5"].map((key) => ({ key, times }));
      const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await loaded({ account, holds: [], windows });
      expect((await of().dump("w1")).windows).toEqual(Object.fromEntries(windows.map(({ key }) => [key, times])));
    });

    test("a load with a balance above 9,000,000 USD is refused, and a pushed one counts as 9,000,000 USD", async () => {
      const most = 9_000_000_000_000_000n;
      expect(makeReady(of(), { balance: most + 1n })).rejects.toThrow(RangeError);
      await makeReady(of(), { balance: most, sequence: 1n });
      await pushAccount(of().counters, { balance: most * 100n, sequence: 2n });
      expect((await of().counters.read("w1", null)).account).toMatchObject({ balance: most, sequence: 2n });
      expect(await admit(of(), { amount: most })).toMatchObject({ outcome: "admitted", available: 0n, amount: most });
      expect(await admit(of(), { amount: 1n })).toMatchObject({ outcome: "insufficient_credit", available: 0n, balance: most });
    });

    test("workspaces are independent, and a batch is answered in its order", async () => {
      await makeReady(of(), { workspace: "w1", balance: 10n });
      await makeReady(of(), { workspace: "w2", balance: 20n });
      const requests = ["w1", "w2", "w3", "w1", "w2", "w2"].map((workspace) => request({ workspace }));
      const { replies } = await of().counters.admitMany({ month: thisMonth, requests: requests });
      const outcomes = replies.map((reply) => [reply.outcome, "available" in reply ? reply.available : null]);
      expect(outcomes).toEqual([
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
