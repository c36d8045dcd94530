import { describe, expect, test } from "bun:test";
import type { AdmitRequest } from "../../../src/backing/counters.ts";
import { monthBounds } from "../../../src/kernel/clock.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { admit, admitAll, makeReady, nextMonth, outcomes, pushAccount, request, resolve, thisMonth } from "./calls.ts";

export function describeDecisions(of: () => CountersHarness): void {
  describe("decisions", () => {
    test("the counters check the rate window, then the model, then credit, key limit and workspace limit", async () => {
      await makeReady(of(), { balance: 5n });
      const wrong: Partial<AdmitRequest> = { requestsPerMinute: 1, modelRefusal: "no_price", keyLimit: 4n, workspaceLimit: 3n };
      await admit(of(), { amount: 1n });
      expect(await admit(of(), wrong)).toMatchObject({ outcome: "rate_limited" });
      wrong.requestsPerMinute = 2;
      expect(await admit(of(), wrong)).toMatchObject({ outcome: "model_refused", reason: "no_price" });
      wrong.modelRefusal = null;
      expect(await admit(of(), wrong)).toMatchObject({ outcome: "insufficient_credit", available: 4n, balance: 5n });
      wrong.amount = 4n;
      expect(await admit(of(), wrong)).toMatchObject({ outcome: "key_spend_limit_exceeded", headroom: 3n });
      wrong.amount = 3n;
      expect(await admit(of(), wrong)).toMatchObject({ outcome: "account_spend_limit_exceeded", headroom: 2n });
      wrong.amount = 2n;
      expect(await admit(of(), wrong)).toMatchObject({ outcome: "admitted", available: 2n });
    });

    test("a replay gets the same reply, and counts once", async () => {
      await makeReady(of());
      const original = request();
      const [first] = await admitAll(of(), [original]);
      await of().advance(1_000);
      const again = await admitAll(of(), [original, original]);
      expect(first).toEqual({
        outcome: "admitted",
        at: of().now() - 1_000,
        month: thisMonth,
        amount: 10n,
        available: 990n,
        window: { remaining: 59, resetMs: 60_000 },
        replay: false,
      });
      const replay = { ...first, replay: true, window: { remaining: 59, resetMs: 59_000 } };
      expect(again).toEqual([replay, replay] as typeof again);
      expect(await of().counters.holds("w1")).toHaveLength(1);
    });

    test("a request that is twice in a batch is admitted once, and is a conflict when its fingerprint differs", async () => {
      await makeReady(of());
      const original = request();
      const replies = await admitAll(of(), [
        original,
        original,
        { ...original, fingerprint: "f00dd" },
        { ...original, fingerprint: "f00" },
      ]);
      expect(replies.map(({ outcome }) => outcome)).toEqual(["admitted", "admitted", "conflict", "conflict"]);
      expect(await admit(of(), { ...original, fingerprint: "beef" })).toEqual({ outcome: "conflict" });
      expect((await of().counters.read("w1", null)).account?.reserved).toBe(10n);
    });

    test("a replay is admitted even when a new request would be refused", async () => {
      await makeReady(of(), { balance: 10n });
      const original = request({ requestsPerMinute: 1, deadline: of().now() });
      expect(await admitAll(of(), [original])).toMatchObject([{ outcome: "admitted" }]);
      await pushAccount(of().counters, { balance: -5n, sequence: 2n });
      await of().advance(monthBounds(thisMonth).endMs - of().now());
      const replayed = { outcome: "admitted", replay: true, month: thisMonth, available: -15n } as const;
      expect(await admitAll(of(), [{ ...original, modelRefusal: "no_price" }])).toMatchObject([replayed]);
    });

    test("a request is admitted while the available credit covers its maximum cost, to the last nano-USD", async () => {
      await makeReady(of(), { balance: 30n });
      expect(await admit(of(), { amount: 31n })).toMatchObject({ outcome: "insufficient_credit", available: 30n, balance: 30n });
      expect(await admit(of(), { amount: 29n })).toMatchObject({ outcome: "admitted", available: 1n });
      expect(await admit(of(), { amount: 2n })).toMatchObject({ outcome: "insufficient_credit", available: 1n, balance: 30n });
      expect(await admit(of(), { amount: 1n })).toMatchObject({ outcome: "admitted", available: 0n });
    });

    test("exactly one of many concurrent requests gets the last credit", async () => {
      await makeReady(of(), { balance: 10n });
      const batches = Array.from({ length: 20 }, () => admitAll(of(), [request(), request()]));
      const seen = (await Promise.all(batches)).flat().map(({ outcome }) => outcome);
      expect(seen.filter((outcome) => outcome === "admitted")).toHaveLength(1);
      expect(seen.filter((outcome) => outcome === "insufficient_credit")).toHaveLength(39);
    });

    test("a free model is admitted as long as the balance is above zero and covers the holds", async () => {
      await makeReady(of(), { balance: 10n });
      const free = { amount: 0n };
      await pushAccount(of().counters, { balance: 0n, sequence: 2n });
      expect(await admit(of(), free)).toMatchObject({ outcome: "insufficient_credit", available: 0n, balance: 0n });
      await pushAccount(of().counters, { balance: 10n, sequence: 3n });
      expect(await outcomes(of(), 2, { amount: 10n })).toEqual(["admitted", "insufficient_credit"]);
      expect(await admit(of(), { ...free, generation: "gen-free" })).toMatchObject({
        outcome: "admitted",
        available: 0n,
        amount: 0n,
      });
      expect(await resolve(of().counters, "gen-free")).toBe(0n);
      await pushAccount(of().counters, { balance: 9n, sequence: 4n });
      expect(await admit(of(), free)).toMatchObject({ outcome: "insufficient_credit", available: -1n, balance: 9n });
    });

    test("open reservations and charges count against a key's month", async () => {
      await makeReady(of(), { keySpent: 70n, spent: 70n });
      const limited = { keyLimit: 100n };
      expect(await outcomes(of(), 3, limited)).toEqual(["admitted", "admitted", "admitted"]);
      expect(await admit(of(), { ...limited, amount: 1n })).toMatchObject({ outcome: "key_spend_limit_exceeded", headroom: 0n });
      expect(await admit(of(), { keyLimit: 50n, amount: 0n })).toMatchObject({
        outcome: "key_spend_limit_exceeded",
        headroom: 0n,
      });
      expect(await admit(of(), { keyLimit: 100n, amount: 0n })).toMatchObject({ outcome: "admitted" });
    });

    test("the reservations of every key count against the workspace's month", async () => {
      await makeReady(of(), { spent: 80n });
      expect(await admit(of(), { workspaceLimit: 100n })).toMatchObject({ outcome: "admitted" });
      expect(await admit(of(), { workspaceLimit: 100n, amount: 11n })).toMatchObject({ headroom: 10n });
      expect(await admit(of(), { workspaceLimit: 100n, amount: 10n })).toMatchObject({ outcome: "admitted" });
    });

    test("the counters ask for the right month at both of its edges", async () => {
      await makeReady(of());
      const { startMs, endMs } = monthBounds(thisMonth);
      await of().advance(startMs - 1 - of().now());
      expect(await admit(of(), {}, thisMonth)).toEqual({ outcome: "wrong_month", now: startMs - 1 });
      await of().advance(1);
      expect(await admit(of(), {}, thisMonth)).toMatchObject({ outcome: "admitted", at: startMs });
      await of().advance(endMs - 1 - of().now());
      expect(await admit(of(), {}, thisMonth)).toMatchObject({ outcome: "admitted", at: endMs - 1 });
      expect(await admit(of(), {}, nextMonth)).toEqual({ outcome: "wrong_month", now: endMs - 1 });
      await of().advance(1);
      expect(await admit(of(), {}, thisMonth)).toEqual({ outcome: "wrong_month", now: endMs });
    });

    test("a request after its deadline is refused, and one at its deadline is not", async () => {
      await makeReady(of());
      expect(await admit(of(), { deadline: of().now() })).toMatchObject({ outcome: "admitted" });
      expect(await admit(of(), { deadline: of().now() - 1 })).toEqual({ outcome: "late" });
    });

    test("a refusal changes nothing", async () => {
      await makeReady(of(), { balance: 25n });
      await admitAll(of(), [request(), request({ generation: "gen-open" })]);
      await resolve(of().counters, "gen-ended", "void");
      const before = await of().dump("w1");
      const refused: [Partial<AdmitRequest>, string?][] = [
        [{ requestsPerMinute: 2 }],
        [{ modelRefusal: "no_price" }],
        [{ amount: 6n }],
        [{ amount: 5n, keyLimit: 24n }],
        [{ amount: 5n, workspaceLimit: 24n }],
        [{ deadline: of().now() - 1 }],
        [{ generation: "gen-ended" }],
        [{ generation: "gen-open", fingerprint: "beef" }],
        [{ key: "k2" }],
        [{}, nextMonth],
        [{ workspace: "w2" }],
      ];
      const seen = new Set<string>();
      for (const [change, month] of refused) {
        seen.add((await admit(of(), change, month)).outcome);
        expect(await of().dump("w1")).toEqual(before);
      }
      expect(seen).not.toContain("admitted");
      expect(seen.size).toBe(refused.length - 1);
    });
  });
}
