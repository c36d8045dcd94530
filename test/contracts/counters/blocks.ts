import { describe, expect, test } from "bun:test";
import type { BlockReturn, LendRequest } from "../../../src/backing/counters.ts";
import { blockLifeMs, blockPauseMs, rateWindowMs } from "../../../src/backing/limits.ts";
import type { CountersHarness } from "../../support/counters/harness.ts";
import { admit, makeReady, type request } from "./calls.ts";

const rate = 1_000;
const balance = 10_000n;

function lend(of: CountersHarness, fields: Partial<LendRequest> = {}) {
  return of.counters.lend({
    workspace: "w1",
    key: "k1",
    month: "2026-11",
    block: "gen-block",
    requestsPerMinute: rate,
    keyLimit: null,
    workspaceLimit: null,
    deadline: null,
    least: 1n,
    amount: 100n,
    places: 10,
    lifeMs: blockLifeMs,
    ...fields,
  });
}

function giveBack(of: CountersHarness, fields: Partial<BlockReturn> = {}) {
  const returns = [{ key: "k1", block: "gen-block", keep: 0n, times: [], ...fields }];
  return of.counters.takeBack({ workspace: "w1", returns });
}

const asked = (of: CountersHarness, fields: Parameters<typeof request>[0] = {}) =>
  admit(of, { requestsPerMinute: rate, ...fields });

export function describeBlocks(of: () => CountersHarness): void {
  describe("blocks that are lent", () => {
    test("a block holds its credit, counts in the months, and takes its places in the window", async () => {
      await makeReady(of(), { balance });
      const window = { remaining: rate - 10, resetMs: blockLifeMs + rateWindowMs };
      const lent = { outcome: "lent", at: of().now(), amount: 100n, places: 10, lifeMs: blockLifeMs, window } as const;
      expect(await lend(of())).toEqual(lent);
      expect(await of().dump("w1")).toMatchObject({ account: { reserved: "100" }, totals: { "k1:2026-11": { held: "100" } } });
      expect(await asked(of())).toMatchObject({ outcome: "admitted", window: { remaining: rate - 11 } });
      expect((await of().counters.read("w1", null)).account?.available).toBe(balance - 110n);
    });

    test("the same block is lent once, and the second answer is the first", async () => {
      await makeReady(of(), { balance });
      const first = await lend(of());
      expect(await lend(of(), { amount: 50n, places: 5 })).toEqual(first);
      expect(await of().dump("w1")).toMatchObject({ account: { reserved: "100" } });
    });

    test("a second worker that asks for a block with a newer record, or after the clock was set back, makes it no longer", async () => {
      await makeReady(of(), { balance });
      const end = { at: of().now(), lifeMs: 3_000 };
      expect(await lend(of(), { lifeMs: 3_000 })).toMatchObject(end);
      await of().advance(50);
      expect(await lend(of(), { lifeMs: 3_300 })).toMatchObject(end);
      expect(await lend(of(), { lifeMs: 1_000 })).toMatchObject(end);
      await of().advance(-90_000);
      expect(await lend(of(), { lifeMs: 3_000 })).toMatchObject(end);
    });

    test("a block is at most a fiftieth of what is free of each bound, and of the window", async () => {
      await makeReady(of(), { balance });
      const wide = { amount: 9_000n, places: 900 };
      expect(await lend(of(), wide)).toMatchObject({ amount: 200n, places: 20 });
      await giveBack(of());
      expect(await lend(of(), { ...wide, block: "gen-2", keyLimit: 5_000n })).toMatchObject({ amount: 100n });
      expect(await lend(of(), { ...wide, block: "gen-3", workspaceLimit: 2_100n })).toMatchObject({ amount: 40n });
      expect(await lend(of(), { ...wide, block: "gen-4", keyLimit: 2_000n, least: 40n })).toEqual({ outcome: "kept" });
    });

    test("nothing is lent to slow keys, from a window that is half used, late, in another month, or without credit", async () => {
      await makeReady(of(), { balance });
      expect(await lend(of(), { requestsPerMinute: 599 })).toEqual({ outcome: "kept" });
      expect(await lend(of(), { month: "2026-10" })).toEqual({ outcome: "kept" });
      expect(await lend(of(), { deadline: of().now() - 1 })).toEqual({ outcome: "kept" });
      for (let times = 0; times < 299; times++) await admit(of(), { requestsPerMinute: 600, amount: 1n });
      expect(await lend(of(), { requestsPerMinute: 600, places: 10 })).toEqual({ outcome: "kept" });
      expect(await lend(of(), { requestsPerMinute: 604, places: 10 })).toMatchObject({ places: 3 });
      expect(await of().counters.lend({ ...(await lentRequest()), workspace: "w2" })).toEqual({ outcome: "kept" });
    });

    test("a returned block keeps what its open requests reserve, and its requests count at their times", async () => {
      await makeReady(of(), { balance });
      const start = of().now();
      await lend(of());
      await of().advance(1_000);
      await asked(of());
      await of().advance(1_000);
      await giveBack(of(), { keep: 30n, times: [start + 500, start + 500, start + 1_500] });
      const { account, windows } = await of().dump("w1");
      expect(account.reserved).toBe("40");
      expect(windows).toEqual({ k1: [start + 500, start + 500, start + 1_000, start + 1_500] });
      expect(await asked(of())).toMatchObject({ window: { remaining: rate - 5, resetMs: 58_500 } });
    });

    test("a return that comes twice, or late, never makes a block larger and counts no request again", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      const times = [of().now()];
      await giveBack(of(), { keep: 30n, times });
      await giveBack(of(), { keep: 10n, times });
      await giveBack(of(), { keep: 30n, times });
      expect(await of().dump("w1")).toMatchObject({ account: { reserved: "10" }, windows: { k1: times } });
      await giveBack(of());
      await giveBack(of(), { keep: 30n });
      expect(await of().dump("w1")).toMatchObject({ account: { reserved: "0" }, holds: {} });
    });

    test("a block that was given back before it was lent is not lent any more", async () => {
      await makeReady(of(), { balance });
      await giveBack(of());
      expect(await lend(of())).toEqual({ outcome: "kept" });
      expect(await of().dump("w1")).toMatchObject({ account: { reserved: "0" } });
    });

    test("a time that is ahead of the store's clock counts as now", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      await giveBack(of(), { times: [of().now() + 5_000] });
      expect((await of().dump("w1")).windows).toEqual({ k1: [of().now()] });
    });

    test("while the clock is set back behind a key's requests, it is lent nothing", async () => {
      await makeReady(of(), { balance });
      await asked(of());
      await of().advance(-5_000);
      expect(await lend(of())).toEqual({ outcome: "kept" });
      await of().advance(5_000);
      expect(await lend(of())).toMatchObject({ outcome: "lent" });
    });

    test("the times of a block count as the key's newest one where the clock was set back meanwhile", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      await of().advance(1_000);
      await asked(of());
      const newest = of().now();
      await of().advance(-90_000);
      await giveBack(of(), { times: [newest - 500, newest + 500] });
      expect((await of().dump("w1")).windows).toEqual({ k1: [newest - 500, newest, newest] });
    });

    test("places of a block that nobody returns leave the window a minute after its end", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      await of().advance(blockLifeMs + rateWindowMs - 1);
      expect(await asked(of())).toMatchObject({ window: { remaining: rate - 11, resetMs: 1 } });
      await of().advance(1);
      expect(await asked(of())).toMatchObject({ window: { remaining: rate - 2 } });
    });

    test("a block ends with its month, also where it is asked for again in the next one", async () => {
      await makeReady(of(), { balance });
      await of().advance(Date.UTC(2026, 11, 1) - of().now() - 3_000);
      expect(await lend(of())).toMatchObject({ outcome: "lent", lifeMs: 3_000 });
      await of().advance(3_000);
      expect(await lend(of(), { month: "2026-12" })).toEqual({ outcome: "kept" });
    });

    test("a refusal tells whether blocks may have what is missing, until a recall pauses lending", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      expect(await asked(of(), { amount: balance - 50n })).toMatchObject({ outcome: "insufficient_credit", isLent: true });
      expect(await asked(of(), { amount: balance + 1n })).not.toHaveProperty("isLent");
      expect(await asked(of(), { keyLimit: 120n, amount: 50n })).toMatchObject({ isLent: true, headroom: 20n });
      expect(await asked(of(), { workspaceLimit: 120n, amount: 50n })).toMatchObject({ isLent: true, headroom: 20n });
      expect(await admit(of(), { requestsPerMinute: 10 })).toMatchObject({ outcome: "rate_limited", isLent: true });
      await of().counters.takeBack({ workspace: "w1", returns: [], pause: { key: "k1" } });
      expect(await asked(of(), { keyLimit: 120n, amount: 50n })).not.toHaveProperty("isLent");
      expect(await admit(of(), { requestsPerMinute: 10 })).not.toHaveProperty("isLent");
      expect(await asked(of(), { amount: balance - 50n })).toHaveProperty("isLent");
      expect(await lend(of(), { block: "gen-2" })).toEqual({ outcome: "kept" });
      await of().counters.takeBack({ workspace: "w1", returns: [], pause: { key: null } });
      expect(await asked(of(), { amount: balance - 50n })).not.toHaveProperty("isLent");
      await of().advance(blockPauseMs);
      expect(await lend(of(), { block: "gen-2" })).toMatchObject({ outcome: "lent" });
    });

    test("a load keeps the places that are lent, and the credit of blocks that are reported", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      await of().restart();
      const begun = (await of().counters.beginLoad("w1")) ?? "";
      const account = { workspace: "w1", balance, sequence: 9n, months: [{ month: "2026-11", spent: 0n }] };
      const holds = await of().counters.holds("w1");
      await of().counters.load({ begun, account, holds, windows: [] });
      expect(await of().dump("w1")).toMatchObject({ ready: true, account: { reserved: "100" } });
      const keyMonths = [{ workspace: "w1", key: "k1", month: "2026-11", spent: 0n, version: 9n, sequence: 9n }];
      await of().counters.resolveMany({ resolve: [], accounts: [], keyMonths });
      expect(await asked(of())).toMatchObject({ window: { remaining: rate - 11 } });
    });

    test("a read tells what blocks hold of all that is reserved, and what each of the named ones does", async () => {
      await makeReady(of(), { balance });
      const { counters } = of();
      const blocks = ["gen-1", "gen-2", "gen-3", "gen-none"];
      const read = async () => {
        const { account, lent, blocks: each } = await counters.read("w1", "k1", blocks);
        return { reserved: account?.reserved, lent, each: blocks.map((block) => each.get(block)) };
      };
      await asked(of());
      expect(await read()).toEqual({ reserved: 10n, lent: 0n, each: [0n, 0n, 0n, 0n] });
      for (const block of ["gen-1", "gen-2", "gen-3"]) await lend(of(), { block, amount: 40n });
      expect(await read()).toEqual({ reserved: 130n, lent: 120n, each: [40n, 40n, 40n, 0n] });
      await giveBack(of(), { block: "gen-1", keep: 15n });
      await giveBack(of(), { block: "gen-2" });
      expect(await read()).toEqual({ reserved: 65n, lent: 55n, each: [15n, 0n, 40n, 0n] });
      await counters.resolveMany({
        resolve: [{ workspace: "w1", generation: "gen-3", as: "expired" }],
        accounts: [],
        keyMonths: [],
      });
      expect(await read()).toEqual({ reserved: 25n, lent: 15n, each: [15n, 0n, 0n, 0n] });
      await of().restart();
      expect(await counters.read("w1", null, blocks)).toMatchObject({ account: null, lent: 0n });
      const begun = (await counters.beginLoad("w1")) ?? "";
      const account = { workspace: "w1", balance, sequence: 9n, months: [{ month: "2026-11", spent: 0n }] };
      await counters.load({ begun, account, holds: await counters.holds("w1"), windows: [] });
      expect(await read()).toEqual({ reserved: 25n, lent: 15n, each: [15n, 0n, 0n, 0n] });
    });

    test("a load brings no block back whose return a report repeats", async () => {
      await makeReady(of(), { balance });
      await lend(of());
      await of().restart();
      const { counters } = of();
      const begun = (await counters.beginLoad("w1")) ?? "";
      const holds = await counters.holds("w1");
      expect(holds.map(({ generation }) => generation)).toEqual(["gen-block"]);
      await giveBack(of());
      const account = { workspace: "w1", balance, sequence: 9n, months: [{ month: "2026-11", spent: 0n }] };
      await counters.load({ begun, account, holds, windows: [] });
      expect(await of().dump("w1")).toMatchObject({ ready: true, account: { reserved: "0" } });
    });

    async function lentRequest(): Promise<LendRequest> {
      const fields = {
        key: "k1",
        month: "2026-11",
        block: "gen-b",
        requestsPerMinute: rate,
        keyLimit: null,
        workspaceLimit: null,
      };
      return { workspace: "w1", ...fields, deadline: null, least: 1n, amount: 1n, places: 10, lifeMs: 1 };
    }
  });
}
