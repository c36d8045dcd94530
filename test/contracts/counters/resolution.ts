import { describe, expect, test } from "bun:test";
import { admissionBatchMax } from "../../../src/gateway/limits.ts";
import { monthBounds } from "../../../src/kernel/clock.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { admit, admitAll, hold, makeReady, newGeneration, pushAccount, pushKey, request, resolve, thisMonth } from "./calls.ts";

export function describeResolution(of: () => CountersHarness): void {
  describe("resolution", () => {
    test("a resolution frees a hold once, from the credit and from both months", async () => {
      await makeReady(of(), { balance: 10n });
      const limits = { keyLimit: 10n, workspaceLimit: 10n };
      await admit(of(), { ...limits, generation: "gen-a" });
      expect(await resolve(of().counters, "gen-a", "settled")).toBe(10n);
      expect(await resolve(of().counters, "gen-a", "settled")).toBe(0n);
      expect(await admit(of(), limits)).toMatchObject({ outcome: "admitted", available: 0n });
    });

    test("an admission that arrives after its resolution, of any kind, is refused", async () => {
      await makeReady(of());
      for (const as of ["settled", "void", "expired", "unknown"] as const) {
        const generation = newGeneration();
        expect(await resolve(of().counters, generation, as)).toBe(0n);
        expect(await admit(of(), { generation })).toEqual({ outcome: "already_resolved", as });
      }
      expect((await of().counters.read("w1", null)).account?.reserved).toBe(0n);
    });

    test("a second resolution returns the first one, for a minute after the last call", async () => {
      await makeReady(of());
      await admit(of(), { generation: "gen-b" });
      await resolve(of().counters, "gen-b", "expired");
      await of().advance(50_000);
      await resolve(of().counters, "gen-b", "settled");
      await of().advance(60_000);
      expect(await admit(of(), { generation: "gen-b" })).toEqual({ outcome: "already_resolved", as: "expired" });
      await of().advance(1);
      expect(await admit(of(), { generation: "gen-b" })).toMatchObject({ outcome: "admitted" });
    });

    test("the counters forget a resolution after a minute, however many others came since", async () => {
      await makeReady(of());
      for (const generation of ["gen-0", "gen-1", "gen-2", "gen-3", "gen-4"]) {
        await of().advance(25_000);
        await resolve(of().counters, generation, "void");
      }
      const known = async (): Promise<string[]> => {
        const requests = ["gen-0", "gen-1", "gen-2", "gen-3", "gen-4"].map((generation) =>
          request({ generation, amount: 1_001n }),
        );
        const replies = await admitAll(of(), requests);
        return requests.filter((_, place) => replies[place]?.outcome === "already_resolved").map(({ generation }) => generation);
      };
      await of().advance(10_000);
      expect(await known()).toEqual(["gen-2", "gen-3", "gen-4"]);
      await of().advance(1);
      expect(await known()).toEqual(["gen-3", "gen-4"]);
      await of().advance(50_000);
      expect(await known()).toEqual([]);
    });

    test("a resolution works for a workspace that is not ready", async () => {
      expect(await resolve(of().counters, "gen-c", "void")).toBe(0n);
      await makeReady(of());
      expect(await admit(of(), { generation: "gen-c" })).toEqual({ outcome: "already_resolved", as: "void" });
    });

    test("a batch of releases over several workspaces keeps its order", async () => {
      await makeReady(of());
      await makeReady(of(), { workspace: "w2" });
      await admitAll(of(), [
        request({ generation: "gen-d", amount: 1n }),
        request({ generation: "gen-d", workspace: "w2", amount: 2n }),
        request({ generation: "gen-e", amount: 3n }),
      ]);
      const named = [
        ["w2", "gen-d"],
        ["w1", "gen-e"],
        ["w3", "gen-d"],
        ["w1", "gen-d"],
        ["w1", "gen-e"],
      ] as const;
      const batch = named.map(([workspace, generation]) => ({ workspace, generation, as: "settled" as const }));
      expect(await of().counters.resolveMany({ resolve: batch, accounts: [], keyMonths: [] })).toEqual([2n, 3n, 0n, 1n, 0n]);
    });

    test("a batch may have any number of releases and pushes", async () => {
      await makeReady(of(), { balance: 100_000n });
      await makeReady(of(), { workspace: "w2" });
      const held = Array.from({ length: 5_000 }, () => request({ requestsPerMinute: 10_000 }));
      const other = request({ workspace: "w2", amount: 7n });
      await admitAll(of(), [other]);
      for (let from = 0; from < held.length; from += admissionBatchMax) {
        const replies = await admitAll(of(), held.slice(from, from + admissionBatchMax));
        expect(replies.every(({ outcome }) => outcome === "admitted")).toBe(true);
      }
      const resolved = [...held.slice(0, 4_900), other, ...held.slice(0, 1)];
      const freed = await of().counters.resolveMany({
        resolve: resolved.map(({ workspace, generation }) => ({ workspace, generation, as: "settled" })),
        accounts: [{ workspace: "w1", balance: 51_000n, sequence: 9n, months: [{ month: thisMonth, spent: 49_000n }] }],
        keyMonths: Array.from({ length: 600 }, (_, number) => {
          return { workspace: "w1", key: `k${number}`, month: thisMonth, spent: BigInt(number), version: 9n, sequence: 9n };
        }),
      });
      expect(freed).toEqual([...held.slice(0, 4_900).map(() => 10n), 7n, 0n]);
      const account = { balance: 51_000n, reserved: 1_000n, available: 50_000n, sequence: 9n };
      expect(await of().counters.read("w1", "k599")).toMatchObject({ account, keySpent: 599n });
      expect(await of().counters.holds("w1")).toHaveLength(100);
      expect((await of().counters.read("w2", null)).account).toMatchObject({ reserved: 0n });
    });

    test("a push replaces older values of the ledger, and never newer ones, however often it is repeated", async () => {
      await makeReady(of(), { balance: 100n, sequence: 5n, spent: 50n, keySpent: 50n });
      await pushAccount(of().counters, { balance: 90n, sequence: 7n, spent: 60n });
      await pushAccount(of().counters, { balance: 95n, sequence: 6n, spent: 55n });
      await pushAccount(of().counters, { balance: 90n, sequence: 7n, spent: 60n });
      await pushKey(of().counters, { spent: 60n, version: 3n });
      await pushKey(of().counters, { spent: 55n, version: 2n });
      const { account, keySpent } = await of().counters.read("w1", "k1");
      expect(account).toEqual({ balance: 90n, reserved: 0n, available: 90n, sequence: 7n });
      expect(keySpent).toBe(60n);
      expect(await admit(of(), { workspaceLimit: 69n })).toMatchObject({ headroom: 9n });
    });

    test("a push that is older than the balance sets no month and no key", async () => {
      await makeReady(of(), { balance: 100n, sequence: 5n });
      await pushAccount(of().counters, { balance: 1n, sequence: 4n, month: "2026-12", spent: 7n });
      await pushKey(of().counters, { key: "k2", spent: 7n, sequence: 4n });
      expect((await of().counters.read("w1", "k2")).account).toMatchObject({ balance: 100n, sequence: 5n });
      expect((await of().counters.read("w1", "k2")).keySpent).toBeNull();
      expect((await of().dump("w1")).totals).not.toContainKey(":2026-12");
      await pushKey(of().counters, { key: "k2", spent: 7n, sequence: 5n });
      expect((await of().counters.read("w1", "k2")).keySpent).toBe(7n);
    });

    test("pushes of two writers in the wrong order are sorted out by the version of each month and key", async () => {
      await makeReady(of(), { balance: 100n, sequence: 5n });
      await pushAccount(of().counters, { balance: 100n, sequence: 5n, month: "2026-10", spent: 0n });
      await pushAccount(of().counters, { balance: 80n, sequence: 7n, month: "2026-10", spent: 10n });
      await pushAccount(of().counters, { balance: 90n, sequence: 6n, month: thisMonth, spent: 10n });
      await pushKey(of().counters, { spent: 10n, version: 2n, sequence: 6n });
      expect(await of().counters.read("w1", "k1")).toMatchObject({ account: { balance: 80n, sequence: 7n }, keySpent: 10n });
      expect(await admit(of(), { workspaceLimit: 19n })).toMatchObject({ headroom: 9n });
    });

    test("each month has its own version", async () => {
      await makeReady(of(), { balance: 100n, sequence: 5n });
      await pushAccount(of().counters, { balance: 100n, sequence: 5n, month: "2026-10", spent: 7n });
      await pushAccount(of().counters, { balance: 100n, sequence: 5n, month: thisMonth, spent: 999n });
      const { totals } = await of().dump("w1");
      expect(totals[":2026-10"]).toEqual({ spent: "7", version: "5", held: "0" });
      expect(totals[`:${thisMonth}`]).toEqual({ spent: "0", version: "5", held: "0" });
    });

    test("a late charge counts in the month of its admission", async () => {
      await makeReady(of());
      await admit(of(), { generation: "gen-f" });
      await of().advance(monthBounds(thisMonth).endMs - of().now());
      await pushAccount(of().counters, { balance: 1_000n, sequence: 1n, month: "2026-12" });
      await pushKey(of().counters, { month: "2026-12" });
      await admit(of(), { generation: "gen-g", amount: 3n });
      expect(await resolve(of().counters, "gen-f")).toBe(10n);
      const { totals } = await of().dump("w1");
      expect([totals[`:${thisMonth}`]?.held, totals[`k1:${thisMonth}`]?.held]).toEqual(["0", "0"]);
      expect([totals[":2026-12"]?.held, totals["k1:2026-12"]?.held]).toEqual(["3", "3"]);
    });

    test("a new month removes the months before the last one, but not their open holds", async () => {
      await makeReady(of());
      await admit(of(), { generation: "gen-h" });
      await pushKey(of().counters, { key: "k2" });
      await pushAccount(of().counters, { balance: 1_000n, sequence: 2n, month: "2026-12" });
      await pushKey(of().counters, { key: "k2", month: "2026-12" });
      expect(Object.keys((await of().dump("w1")).totals)).toHaveLength(5);
      await pushAccount(of().counters, { balance: 1_000n, sequence: 3n, month: "2027-01" });
      const { totals } = await of().dump("w1");
      const open = { spent: null, version: "-1", held: "10" };
      const known = { spent: "0", held: "0" };
      expect(totals).toMatchObject({ ":2026-11": open, "k1:2026-11": open, ":2026-12": known, ":2027-01": known });
      expect(Object.keys(totals).toSorted()).toEqual([":2026-11", ":2026-12", ":2027-01", "k1:2026-11", "k2:2026-12"]);
      expect(await resolve(of().counters, "gen-h")).toBe(10n);
    });

    test("overdue returns holds past their deadline, the oldest first, up to the requested number", async () => {
      await makeReady(of());
      await admit(of(), { generation: "gen-2nd" });
      await of().advance(1_000);
      await admitAll(of(), [request({ generation: "gen-4th" }), request({ generation: "gen-3rd" })]);
      await of().advance(1_198_999);
      expect(await of().counters.overdue("w1", 10)).toEqual([]);
      await of().advance(1);
      expect(await of().counters.overdue("w1", 10)).toMatchObject([{ generation: "gen-2nd", deadline: of().now() }]);
      await of().advance(1_000);
      const named = (await of().counters.overdue("w1", 2)).map(({ generation }) => generation);
      expect(named).toEqual(["gen-2nd", "gen-3rd"]);
      await resolve(of().counters, "gen-2nd", "expired");
      expect((await of().counters.overdue("w1", 10)).map(({ generation }) => generation)).toEqual(["gen-3rd", "gen-4th"]);
      expect(await of().counters.overdue("w2", 10)).toEqual([]);
    });

    test("overdue also returns loaded holds, until they are resolved", async () => {
      const [young, old] = [hold(of()), hold(of(), { deadline: of().now() + 5_000 })];
      const account = { workspace: "w1", balance: 100n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
      await of().counters.load({ account, holds: [young, old], windows: [] });
      await of().advance(4_999);
      expect(await of().counters.overdue("w1", 10)).toEqual([]);
      await of().advance(1);
      for (const _ of [1, 2]) expect(await of().counters.overdue("w1", 10)).toEqual([old]);
      await resolve(of().counters, old.generation, "expired");
      expect(await of().counters.overdue("w1", 10)).toEqual([]);
      await of().advance(young.deadline - of().now());
      expect(await of().counters.overdue("w1", 10)).toEqual([young]);
    });

    test("read returns the balance, the holds and a key's spending in the month of the store's clock", async () => {
      await makeReady(of(), { balance: 100n, sequence: 4n, keySpent: 25n });
      await admit(of());
      const account = { balance: 100n, reserved: 10n, available: 90n, sequence: 4n };
      const read = { now: of().now(), account, lent: 0n, blocks: new Map() };
      expect(await of().counters.read("w1", "k1")).toEqual({ ...read, keySpent: 25n });
      expect(await of().counters.read("w1", null)).toEqual({ ...read, keySpent: null });
      expect(await of().counters.read("w1", "k2")).toEqual({ ...read, keySpent: null });
      await of().advance(monthBounds(thisMonth).endMs - of().now());
      expect(await of().counters.read("w1", "k1")).toEqual({ ...read, now: of().now(), keySpent: null });
    });
  });
}
