import { describe, expect, test } from "bun:test";
import type { AdmitReply, Budget, Hold, LoadedClaim } from "../../../src/backing/counters.ts";
import { claimMs, tombstoneMs } from "../../../src/backing/limits.ts";
import { dayOf } from "../../../src/kernel/clock.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { admit, admitAll, hold, makeReady, request, resolve, thisMonth } from "./calls.ts";

const refused: AdmitReply = { outcome: "claimed" };

/** A request with the claim `c1`. */
function claiming(of: CountersHarness, generation: string): Promise<AdmitReply> {
  return admit(of, { generation, claim: "c1" });
}

/** Loads the workspace w1 with these holds and claims. */
async function load(of: CountersHarness, { holds = [], claims }: { holds?: Hold[]; claims?: LoadedClaim[] }): Promise<void> {
  const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month: thisMonth, spent: 0n }] };
  await of.counters.load({ account, holds, windows: [], ...(claims && { claims }) });
  const key = { workspace: "w1", key: "k1", month: thisMonth, spent: 0n, version: 1n, sequence: 1_000n };
  await of.counters.resolveMany({ resolve: [], accounts: [], keyMonths: [key] });
}

export function describeClaims(of: () => CountersHarness): void {
  describe("claims", () => {
    test("a claim belongs to the first generation while it is open, and a refusal changes nothing", async () => {
      await makeReady(of());
      expect(await claiming(of(), "gen-1")).toMatchObject({ outcome: "admitted", window: { remaining: 59 } });
      const before = await of().dump("w1");
      expect(await claiming(of(), "gen-2")).toEqual(refused);
      expect(await of().dump("w1")).toEqual(before);
      expect(await claiming(of(), "gen-1")).toMatchObject({ outcome: "admitted", replay: true });
      expect(await admit(of(), { claim: "c2" })).toMatchObject({ outcome: "admitted" });
      expect(await admit(of())).toMatchObject({ outcome: "admitted", window: { remaining: 57 } });
    });

    test("of two requests in one call the first has the claim", async () => {
      await makeReady(of());
      const claim = "c1";
      const replies = await admitAll(of(), [request(), request({ claim }), request({ claim }), request()]);
      expect(replies.map(({ outcome }) => outcome)).toEqual(["admitted", "admitted", "claimed", "admitted"]);
    });

    test("claims are those of one workspace, and travel beside budgets and requests of others", async () => {
      for (const workspace of ["w1", "w2"]) await makeReady(of(), { workspace });
      const day = dayOf(of().now());
      const budget: Budget = { name: "day:k1", period: "day", limit: 15n, refusal: "key_spend_limit_exceeded" };
      const push = { workspace: "w1", name: budget.name, since: day, spent: 0n, sequence: 1n };
      await of().counters.resolveMany({ resolve: [], accounts: [], keyMonths: [], budgets: [push] });
      const claim = "c1";
      const requests = [
        request({ claim, budgets: [budget] }),
        request({ workspace: "w3", claim }),
        request({ claim }),
        request({ workspace: "w2", claim }),
        request({ budgets: [budget] }),
        request({ workspace: "w2" }),
      ];
      const { replies } = await of().counters.admitMany({ month: thisMonth, day, requests });
      expect(replies.map(({ outcome }) => outcome)).toEqual([
        "admitted",
        "not_ready",
        "claimed",
        "admitted",
        "key_spend_limit_exceeded",
        "admitted",
      ]);
    });

    test.each(["settled", "expired", "unknown"] as const)("a generation that %s keeps its claim for a minute", async (as) => {
      await makeReady(of());
      await claiming(of(), "gen-1");
      await resolve(of().counters, "gen-1", as);
      await of().advance(tombstoneMs);
      expect(await claiming(of(), "gen-2")).toEqual(refused);
      await of().advance(1);
      expect(await claiming(of(), "gen-2")).toMatchObject({ outcome: "admitted" });
      expect(await claiming(of(), "gen-3")).toEqual(refused);
    });

    test("a void generation has no claim any more", async () => {
      await makeReady(of());
      await claiming(of(), "gen-1");
      await resolve(of().counters, "gen-1", "void");
      expect(await claiming(of(), "gen-2")).toMatchObject({ outcome: "admitted" });
    });

    test("a request that is refused for another reason takes no claim", async () => {
      await makeReady(of());
      const claim = "c1";
      for (const change of [
        { amount: 1_001n },
        { requestsPerMinute: 0 },
        { modelRefusal: "no_price" },
        { deadline: of().now() - 1 },
      ])
        expect(await admit(of(), { claim, ...change })).not.toMatchObject({ outcome: "admitted" });
      expect(await admit(of(), { claim })).toMatchObject({ outcome: "admitted" });
    });

    test("the claim is looked at before the window, the model and the money", async () => {
      await makeReady(of());
      await claiming(of(), "gen-1");
      const claim = "c1";
      for (const change of [{ amount: 1_001n }, { requestsPerMinute: 0 }, { modelRefusal: "no_price" }])
        expect(await admit(of(), { claim, ...change })).toEqual(refused);
    });

    test("a generation that is open for long keeps its claim, whatever is claimed meanwhile", async () => {
      await makeReady(of());
      await of().advance(1_000);
      await admit(of(), { claim: "c0" });
      await of().advance(claimMs - 1);
      await claiming(of(), "gen-1");
      for (let passed = 0; passed < claimMs; passed += claimMs / 3) {
        await of().advance(claimMs / 3);
        await admit(of(), { claim: `c-${passed}` });
        expect(await claiming(of(), "gen-2")).toEqual(refused);
      }
    });

    test("a clock that is set back frees no claim", async () => {
      await makeReady(of());
      await claiming(of(), "gen-1");
      await of().advance(-3 * claimMs);
      await admit(of(), { claim: "c2" });
      await of().advance(3 * claimMs);
      expect(await claiming(of(), "gen-2")).toEqual(refused);
    });

    test("claims outlive a restart of the store, since their generations are loaded", async () => {
      await makeReady(of());
      await claiming(of(), "gen-1");
      await of().restart();
      await load(of(), { holds: await of().counters.holds("w1") });
      expect(await claiming(of(), "gen-2")).toEqual(refused);
      await of().restart();
      await load(of(), {});
      expect(await claiming(of(), "gen-2")).toMatchObject({ outcome: "admitted" });
    });

    test("an emptied store has the claims of open generations again when it is loaded", async () => {
      const [open, ended] = [hold(of()), hold(of())];
      await resolve(of().counters, ended.generation);
      const claims = [
        { claim: "c1", generation: open.generation },
        { claim: "c2", generation: ended.generation },
        { claim: "c3", generation: "gen-unknown" },
      ];
      await load(of(), { holds: [open, ended], claims });
      const outcomes: string[] = [];
      for (const claim of ["c1", "c2", "c3"]) outcomes.push((await admit(of(), { claim })).outcome);
      expect(outcomes).toEqual(["claimed", "claimed", "admitted"]);
      await resolve(of().counters, open.generation, "void");
      expect(await claiming(of(), "gen-2")).toMatchObject({ outcome: "admitted" });
    });

    test("a generation that has ended by the ledger keeps its claim for a minute after a load, though nothing resolved it here", async () => {
      const [ended, open] = [hold(of()), hold(of())];
      const claims = [
        { claim: "c1", generation: ended.generation, hasEnded: true as const },
        { claim: "c2", generation: open.generation },
      ];
      await load(of(), { holds: [open], claims });
      expect(await claiming(of(), "gen-2")).toEqual(refused);
      await of().advance(tombstoneMs);
      expect(await claiming(of(), "gen-2")).toEqual(refused);
      await of().advance(1);
      expect(await claiming(of(), "gen-2")).toMatchObject({ outcome: "admitted" });
      expect((await admit(of(), { claim: "c2" })).outcome).toBe("claimed");
      expect(await of().counters.holds("w1")).toContainEqual(open);
    });

    test("of two generations with one claim that a load names, the open one has it", async () => {
      const [ended, open] = [hold(of()), hold(of())];
      await resolve(of().counters, ended.generation);
      const [old, young] = [ended, open].map(({ generation }) => ({ claim: "c1", generation }));
      if (!old || !young) throw new Error("There are two claims");
      for (const claims of [
        [old, young],
        [young, old],
      ]) {
        await load(of(), { holds: [ended, open], claims });
        expect(await claiming(of(), "gen-3")).toEqual(refused);
        await of().wipe();
        await resolve(of().counters, ended.generation);
      }
    });
  });
}
