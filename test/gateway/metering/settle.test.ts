import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Counters } from "../../../src/backing/counters.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { settlementStore, GenerationsMonths } from "../../../src/gateway/metering/store.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { failureOf } from "../../support/failure-of.ts";
import { event, rawEvent, TestMetering } from "../../support/gateway/metering.ts";
import { alarmsRaised, cost, hold, StoredMoney, usd } from "../../support/gateway/stored-money.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { failAt } from "../../support/servers/fail-at.ts";

function failing(counters: Counters): Counters {
  return new Proxy(counters, { get: () => () => Promise.reject(new Error("Redis is down")) });
}

describe.each(databases)("settlement on $name", ({ name, open }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  describe("each generation is charged exactly once", () => {
    test("repetitions in a batch, a delivery or later deliveries are charged once", async () => {
      const { workspace, metering, ended } = await money.customer();
      const [one, two] = [ended(), ended()];
      await metering.settle([one, two, one], [two, one]);
      await metering.settle([one], [two]);
      await metering.settle([two, one]);
      expect(await money.balance(workspace)).toBe(usd - 2n * cost);
      expect(await money.charges(workspace)).toHaveLength(2);
      await money.expectSound();
    });

    test("several concurrent writers with the same settlements charge them once", async () => {
      const customers = [await money.customer(), await money.customer(), await money.customer()];
      const all = customers.flatMap(({ ended }) => Array.from({ length: 40 }, () => ended()));
      const shuffled = (seed: number) => all.toSorted((a, b) => hashOf(a, seed) - hashOf(b, seed));
      const hashOf = ({ generation }: Settlement, seed: number) => Bun.hash.crc32(generation, seed);
      const writers = Array.from({ length: 6 }, (_, seed) => {
        const metering = new TestMetering(money.sql);
        const list = shuffled(seed);
        return Promise.all([metering.settle(list.slice(0, 60)), metering.settle(list.slice(40))]);
      });
      await Promise.all(writers);
      for (const { workspace } of customers) expect(await money.balance(workspace)).toBe(usd - 40n * cost);
      await money.expectSound();
    });

    test("a redelivery after the counters failed only pushes and releases", async () => {
      const { workspace, metering, ended } = await money.customer();
      const once = ended();
      await hold(metering, once);
      const { counters } = metering;
      const given = event([once]);
      metering.counters = failing(counters);
      expect(String(await failureOf(metering.deliver(given)))).toContain("Redis is down");
      expect(metering.confirmed).toEqual([]);
      expect(await money.balance(workspace)).toBe(usd - cost);
      metering.counters = counters;
      await metering.deliver(given);
      expect(metering.confirmed).toEqual([given.id]);
      expect(await money.balance(workspace)).toBe(usd - cost);
      expect(await counters.read(workspace, null)).toMatchObject({ account: { balance: usd - cost, reserved: 0n } });
    });

    test("a settlement that dies before any of its statements, as between rows and entry, leaves nothing, and its next delivery books it", async () => {
      const { workspace, metering, ended } = await money.customer();
      const late = ended();
      const free = { ...late.usage, promptTokens: 0, completionTokens: 0 };
      await metering.settle([{ ...late, outcome: "expired", usage: free }]);
      const before = await money.charges(workspace);
      const given = event([late, ended(), ended()]);
      let deaths = 0;
      for (; ; deaths++) {
        metering.store = settlementStore(failAt(money.sql, deaths + 1));
        const failure = await metering.deliver(given).then(() => null, String);
        if (failure === null) break;
        expect(failure).toContain("killed before statement");
        expect(await money.balance(workspace)).toBe(usd);
        expect(await money.charges(workspace)).toEqual(before);
        await money.expectSound();
      }
      // The heads and outcomes, the row without a charge, two totals, the rows, their entry and the chain's head.
      expect(deaths).toBeGreaterThanOrEqual(8);
      expect(await money.balance(workspace)).toBe(usd - 3n * cost);
      expect(await money.charges(workspace)).toHaveLength(3);
      await money.expectSound();
    });

    test("a generation without tokens is booked for nothing", async () => {
      const { workspace, metering, ended } = await money.customer();
      const free = ended({
        usage: { ...ended().usage, promptTokens: 0, completionTokens: 0 },
        status: 502,
        code: "upstream_error",
      });
      await metering.settle([free]);
      expect(await money.balance(workspace)).toBe(usd);
      expect(await money.charges(workspace)).toEqual([
        { generation_id: free.generation, outcome: "settled", cost_nano: 0n, late: false },
      ]);
      await money.expectSound();
    });
  });

  describe("a generation with an unknown end", () => {
    test.each(["unknown", "expired"] as const)(
      "a generation booked as %s is charged once when its settlement comes late, and flagged",
      async (outcome) => {
        const { workspace, metering, ended } = await money.customer();
        const truth = ended();
        const lost = {
          ...truth,
          outcome,
          usage: { ...truth.usage, promptTokens: 0, completionTokens: 0 },
          status: 500,
          model: "unknown",
        };
        const [before, lateBefore] = [await alarmsRaised(`generation.${outcome}`), await alarmsRaised("charge.late")];
        await metering.settle([lost], [lost]);
        expect(await money.balance(workspace)).toBe(usd);
        expect(await alarmsRaised(`generation.${outcome}`)).toBe(before + 1);

        await metering.settle([truth]);
        await metering.settle([truth, lost]);
        expect(await money.balance(workspace)).toBe(usd - cost);
        expect(await money.charges(workspace)).toEqual([
          { generation_id: truth.generation, outcome: "settled", cost_nano: cost, late: true },
        ]);
        expect(await alarmsRaised("charge.late")).toBe(lateBefore + 1);
        const [row] = await money.sql`SELECT model, status FROM generations WHERE generation_id = ${truth.generation}`;
        expect(row).toEqual({ model: truth.model, status: 200 });
        await money.expectSound();
      },
    );

    test("a settlement in one batch with an unknown end is not late, in either order", async () => {
      const { workspace, metering, ended } = await money.customer();
      for (const reversed of [false, true]) {
        const truth = ended();
        const both: Settlement[] = [{ ...truth, outcome: "unknown" }, truth];
        await metering.settle(reversed ? both.toReversed() : both);
      }
      expect((await money.charges(workspace)).map(({ outcome, late }) => [outcome, late])).toEqual([
        ["settled", false],
        ["settled", false],
      ]);
    });

    test("a later expiry does not undo a charge", async () => {
      const { workspace, metering, ended } = await money.customer();
      const truth = ended();
      await metering.settle([truth]);
      await metering.settle([{ ...truth, outcome: "expired" }]);
      expect(await money.balance(workspace)).toBe(usd - cost);
      expect(await money.charges(workspace)).toMatchObject([{ outcome: "settled", late: false }]);
    });
  });

  test("settlement pushes the chain's head and the totals to the counters, and releases the holds", async () => {
    const { workspace, key, metering, ended } = await money.customer();
    const { counters } = metering;
    const one = ended();
    await hold(metering, one);
    await metering.settle([one, ended()]);
    expect(await counters.read(workspace, key)).toMatchObject({
      account: { balance: usd - 2n * cost, reserved: 0n, sequence: 2n },
      keySpent: 2n * cost,
    });
    expect(await counters.holds(workspace)).toEqual([]);
  });

  test("settlement does not wait for an edit of a key", async () => {
    // The embedded database has one connection, so it cannot run both at once.
    if (name === "the embedded database") return;
    const { workspace, key, metering, ended } = await money.customer();
    await money.sql.begin(async (tx) => {
      await tx`SELECT 1 FROM api_keys WHERE id = ${key} FOR UPDATE`;
      await metering.settle([ended()]);
    });
    expect(await money.balance(workspace)).toBe(usd - cost);
  });

  test("settlement of nothing changes nothing", async () => {
    const metering = new TestMetering(money.sql);
    await metering.deliver();
    await metering.deliver(rawEvent('{"batch":"empty","settlements":[]}'));
    expect(metering.confirmed).toEqual(["empty"]);
    expect(await settlementStore(money.sql).settle([])).toMatchObject({ accounts: [], keyMonths: [] });
  });
});

/** Settlement asks of each generation whether it has ended, among all months that are kept. */

test.each(databases)("a plan that serves any ids searches only the months of the given ones, on $name", async ({ open }) => {
  await using database = await open();
  const { sql } = database;
  const [july, october, november] = [6, 9, 10].map((month) => Date.UTC(2026, month, 20)) as [number, number, number];
  const ids = [july, october, november].map((ms) => newGenerationId(ms));
  await new GenerationsMonths(sql).make(
    ids.map((generation, n) => ({ generation, admittedAt: [july, october, november][n] ?? 0 })),
  );
  const searched = await sql.begin(async (tx) => {
    await tx`SET LOCAL plan_cache_mode = force_generic_plan`;
    await tx`PREPARE outcomes (text[]) AS SELECT generation, outcome FROM outcomes_of($1)`;
    const plan = await tx.unsafe<Record<string, string>[]>(
      `EXPLAIN (ANALYZE, TIMING OFF) EXECUTE outcomes ('{${ids.slice(1).join(",")}}')`,
    );
    await tx`DEALLOCATE outcomes`;
    const scans = plan.flatMap(Object.values).filter((line) => String(line).includes("never executed") === false);
    return scans.flatMap((line) => /on (generations_\d{4}_\d\d)/.exec(String(line))?.[1] ?? []);
  });
  expect(searched.toSorted()).toEqual(["generations_2026_10", "generations_2026_11"]);
});
