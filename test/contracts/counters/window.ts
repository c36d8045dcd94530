import { describe, expect, test } from "bun:test";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { admit, admitAll, makeReady, outcomes, request } from "./calls.ts";

export function describeWindow(of: () => CountersHarness): void {
  describe("the sliding 60-second window", () => {
    test("the window admits so many requests a minute, and a refusal tells when the oldest one leaves it", async () => {
      await makeReady(of());
      const limit = { requestsPerMinute: 3 };
      expect(await admit(of(), limit)).toMatchObject({ window: { remaining: 2, resetMs: 60_000 } });
      await of().advance(20_000);
      expect(await admit(of(), limit)).toMatchObject({ window: { remaining: 1, resetMs: 40_000 } });
      await of().advance(20_000);
      expect(await admit(of(), limit)).toMatchObject({ window: { remaining: 0, resetMs: 20_000 } });
      await of().advance(19_999);
      const refused = { outcome: "rate_limited", retryAfterMs: 1, window: { remaining: 0, resetMs: 1 } } as const;
      expect(await admit(of(), limit)).toEqual(refused);
      await of().advance(1);
      expect(await admit(of(), limit)).toMatchObject({ outcome: "admitted", window: { remaining: 0, resetMs: 20_000 } });
      expect(await admit(of(), limit)).toMatchObject({ outcome: "rate_limited", retryAfterMs: 20_000 });
    });

    test("a request counts for exactly 60,000 ms", async () => {
      await makeReady(of());
      const limit = { requestsPerMinute: 1 };
      await admit(of(), limit);
      for (const [step, outcome] of [
        [0, "rate_limited"],
        [1, "rate_limited"],
        [58_999, "rate_limited"],
        [999, "rate_limited"],
        [1, "admitted"],
        [59_999, "rate_limited"],
        [1, "admitted"],
      ] as const) {
        await of().advance(step);
        expect((await admit(of(), limit)).outcome).toBe(outcome);
      }
    });

    test("a refusal with 404, 402 or 429 does not count", async () => {
      await makeReady(of(), { balance: 100n });
      const limit = { requestsPerMinute: 2 };
      await admit(of(), limit);
      for (const change of [{ modelRefusal: "model_not_found" }, { amount: 1_000n }, { keyLimit: 1n }, { workspaceLimit: 1n }]) {
        expect(await admit(of(), { ...limit, ...change })).toMatchObject({ window: { remaining: 1, resetMs: 60_000 } });
      }
      expect(await outcomes(of(), 3, limit)).toEqual(["admitted", "rate_limited", "rate_limited"]);
      await of().advance(60_000);
      expect(await outcomes(of(), 2, limit)).toEqual(["admitted", "admitted"]);
    });

    test("the window of a key without requests is empty", async () => {
      await makeReady(of());
      const refused = await admit(of(), { requestsPerMinute: 7, modelRefusal: "no_price" });
      expect(refused).toMatchObject({ window: { remaining: 7, resetMs: 0 } });
    });

    test("each key has its own window", async () => {
      await makeReady(of());
      const keyMonths = [{ workspace: "w1", key: "k2", month: "2026-11", spent: 0n, version: 1n, sequence: 9n }];
      await of().counters.resolveMany({ resolve: [], accounts: [], keyMonths });
      const limit = { requestsPerMinute: 1 };
      const replies = await admitAll(of(), [request(limit), request({ ...limit, key: "k2" }), request(limit)]);
      expect(replies.map(({ outcome }) => outcome)).toEqual(["admitted", "admitted", "rate_limited"]);
    });

    test("the oldest counted request determines the wait after the limit was lowered", async () => {
      await makeReady(of());
      for (let index = 0; index < 3; index++) {
        await admit(of(), { requestsPerMinute: 10 });
        await of().advance(10_000);
      }
      const limit = { requestsPerMinute: 1 };
      const refused = { outcome: "rate_limited", retryAfterMs: 30_000, window: { remaining: 0, resetMs: 30_000 } } as const;
      expect(await admit(of(), limit)).toEqual(refused);
      await of().advance(30_000);
      expect(await admit(of(), limit)).toMatchObject({ outcome: "rate_limited", retryAfterMs: 10_000 });
      await of().advance(20_000);
      expect(await admit(of(), limit)).toMatchObject({ outcome: "admitted" });
    });

    test("a request still counts after its reservation was released", async () => {
      await makeReady(of());
      await admit(of(), { generation: "gen-void", requestsPerMinute: 1 });
      const resolve = [{ workspace: "w1", generation: "gen-void", as: "void" as const }];
      expect(await of().counters.resolveMany({ resolve, accounts: [], keyMonths: [] })).toEqual([10n]);
      expect((await admit(of(), { requestsPerMinute: 1 })).outcome).toBe("rate_limited");
    });

    test("setting the clock back frees no place, and the reported wait stays true", async () => {
      await makeReady(of());
      const limit = { requestsPerMinute: 2 };
      const first = of().now();
      await admit(of(), limit);
      await of().advance(-5_000);
      expect(await admit(of(), limit)).toMatchObject({ at: first, window: { remaining: 0, resetMs: 65_000 } });
      expect(await admit(of(), limit)).toMatchObject({ outcome: "rate_limited", retryAfterMs: 65_000 });
      await of().advance(64_999);
      expect(await admit(of(), limit)).toMatchObject({ outcome: "rate_limited", retryAfterMs: 1 });
      await of().advance(1);
      expect(await admit(of(), limit)).toMatchObject({ outcome: "admitted", window: { remaining: 1 } });
    });

    test("any number of requests can leave the window at once", async () => {
      await makeReady(of(), { balance: 1_000_000n });
      const limit = { requestsPerMinute: 10_000 };
      for (const count of [1, 2, 3, 5, 8, 200]) {
        await admitAll(
          of(),
          Array.from({ length: count }, () => request(limit)),
        );
        await of().advance(10_000);
      }
      for (const left of [218, 216, 213, 208, 200, 0]) {
        const { window } = (await admit(of(), { ...limit, modelRefusal: "no_price" })) as { window: { remaining: number } };
        expect(10_000 - window.remaining).toBe(left);
        await of().advance(10_000);
      }
    });
  });
}
