import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { settlementTransactionMax } from "../../../src/gateway/limits.ts";
import { rollUpUsage } from "../../../src/gateway/usage/roll-up.ts";
import { readUsage } from "../../../src/gateway/usage/usage.ts";
import type { UsageView } from "../../../src/gateway/usage/schema.ts";
import { formatUsd, parseUsd } from "../../../src/kernel/money.ts";
import { ManualClock } from "../../support/clock.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { cost, StoredMoney, usd, type Customer } from "../../support/gateway/stored-money.ts";

const now = Date.UTC(2026, 11, 2);
const zones = ["UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"];

type Row = UsageView["data"][number];

function nameOf(row: Row, by: "model" | "key" | "member" | "period"): string | null | undefined {
  return by === "key" ? row.key_id : row[by];
}

/** The charges of each name, by name. */
function sumsBy(rows: readonly Row[], by: "model" | "key" | "member" | "period"): [string, bigint][] {
  const sums = new Map<string, bigint>();
  for (const row of rows) {
    const name = String(nameOf(row, by));
    sums.set(name, (sums.get(name) ?? 0n) + parseUsd(row.cost_usd));
  }
  return [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

describe.each(databases)("usage on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  const clock = new ManualClock(now);
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const rollUp = (at = now, rowsMax?: number) =>
    rollUpUsage({ sql: money.sql, clock: new ManualClock(at) }, rowsMax === undefined ? {} : { rowsMax });
  const read = ({ workspace }: Customer, fields: { from?: string; to?: string; by?: string; tz?: string }, rowsMax?: number) =>
    readUsage(
      { workspace, keys: null, model: null, fields, ...(rowsMax !== undefined && { rowsMax }) },
      { sql: money.sql, clock },
    );
  const charged = ({ cost_usd }: { cost_usd: string }): bigint => parseUsd(cost_usd);
  const sumOf = ({ data }: UsageView): bigint => data.reduce((sum, row) => sum + charged(row), 0n);

  /** What the ledger charged to a workspace. */
  const ledger = async ({ workspace }: Customer): Promise<bigint> => {
    const [row] = await money.sql<{ charged: bigint }[]>`
      SELECT -sum(amount_nano)::bigint AS charged FROM ledger_entries WHERE workspace_id = ${workspace} AND kind = 'charge'`;
    return row?.charged ?? 0n;
  };

  /** Each costs another amount, so that a charge on the wrong side of a border shows. */
  const endedAt = ({ ended }: Customer, times: number[]): Settlement[] =>
    times.map((admittedAt, index) => ended({ admittedAt, usage: { ...ended().usage, promptTokens: 2 ** (index % 9) } }));

  /** Sums by the day or the month that clocks in the zone showed, by means other than the code under test. */
  const expected = async ({ workspace }: Customer, { zone, length }: { zone: string; length: number }) => {
    const rows = await money.sql<{ at: Date; cost: bigint }[]>`
      SELECT admitted_at AS at, cost_nano AS cost FROM generations WHERE workspace_id = ${workspace} ORDER BY admitted_at`;
    const sums = new Map<string, bigint>();
    for (const { at, cost: charge } of rows) {
      const name = at.toLocaleString("sv-SE", { timeZone: zone }).slice(0, length);
      sums.set(name, (sums.get(name) ?? 0n) + charge);
    }
    return [...sums];
  };

  test("days and months of four zones add up to the ledger, with charges at midnight, a month's edge and daylight saving", async () => {
    const customer = await money.customer();
    /** Midnights of the zones at the end of October and of daylight saving in October and November, and when it changes. */
    const borders =
      "2026-10-03T13:30Z 2026-10-03T15:30Z 2026-10-04T13:00Z 2026-10-31T13:00Z 2026-10-31T18:15Z 2026-11-01T00:00Z 2026-11-01T04:00Z " +
      "2026-11-01T05:00Z 2026-11-01T06:00Z 2026-11-02T05:00Z";
    const times = borders.split(" ").flatMap((text) => [-1, 0, 1, 899_999].map((after) => Date.parse(text) + after));
    const all = endedAt(customer, times);
    const [early, late] = [all.filter((_, index) => index % 3 > 0), all.filter((_, index) => index % 3 === 0)];

    const expectRight = async () => {
      const total = await ledger(customer);
      for (const zone of zones) {
        for (const [by, length] of [
          ["day", 10],
          ["month", 7],
        ] as const) {
          const usage = await read(customer, { from: "2026-10-01", to: "2026-11-30", by, tz: zone });
          const sums = usage.data.map((row): [string, bigint] => [row.period ?? "", charged(row)]);
          expect(sums).toEqual(await expected(customer, { zone, length }));
          expect([charged(usage.total), sumOf(usage)]).toEqual([total, total]);
        }
      }
    };
    await customer.metering.settle(early);
    await expectRight();
    await rollUp(Date.parse("2026-10-31T18:30Z"), 7);
    await expectRight();
    await customer.metering.settle(late, early);
    await expectRight();
    await rollUp(now, 5);
    await expectRight();
    const [left] = await money.sql`SELECT count(*) AS rows FROM usage_late`;
    expect(left).toEqual({ rows: 0n });
    await money.expectSound();
  }, 60_000);

  test("a generation that was booked without a charge counts once when its true end comes after the roll-up", async () => {
    const customer = await money.customer();
    const truth = customer.ended({ admittedAt: Date.UTC(2026, 10, 5) });
    const unknown = { ...truth.usage, promptTokens: 0, completionTokens: 0 };
    await customer.metering.settle([{ ...truth, outcome: "unknown", usage: unknown, status: 500, model: "unknown" }]);
    const sums = async () =>
      (await read(customer, { from: "2026-11-01", by: "model" })).data.map((row) => [
        row.model,
        row.requests,
        row.errors,
        row.cost_usd,
      ]);
    expect(await sums()).toEqual([["unknown", 1, 1, formatUsd(0n)]]);
    await rollUp();
    expect(await sums()).toEqual([["unknown", 1, 1, formatUsd(0n)]]);
    await customer.metering.settle([truth], [truth]);
    expect(await sums()).toEqual([["sandbox/echo", 1, 0, formatUsd(cost)]]);
    await money.expectSound();
    await rollUp();
    expect(await sums()).toEqual([["sandbox/echo", 1, 0, formatUsd(cost)]]);
    await money.expectSound();
  });

  if (!runsAll) return;

  test("settlements and roll-ups at the same time lose and repeat nothing", async () => {
    const customers = await Promise.all(Array.from({ length: 3 }, () => money.customer()));
    const batches = Array.from({ length: 24 }, (_, batch) =>
      customers.flatMap(({ ended }) =>
        Array.from({ length: 5 }, (_, index) => ended({ admittedAt: now - 60_000 * (1 + ((batch * 5 + index) % 50)) })),
      ),
    );
    expect(batches.length * 15).toBeLessThan(settlementTransactionMax);
    let isDone = false;
    const roll = async (seed: number): Promise<void> => {
      for (let step = seed; !isDone; step++) await rollUp(now - 60_000 * (50 - (step % 50)), 40);
    };
    const watch = async (customer: Customer): Promise<void> => {
      for (let seen = 0n; !isDone;) {
        const total = charged((await read(customer, { from: "2026-12-01" })).total);
        expect(total).toBeGreaterThanOrEqual(seen);
        expect(total % cost).toBe(0n);
        seen = total;
      }
    };
    const settling = async (): Promise<void> => {
      const queue = [...batches, ...batches.slice(0, 6)];
      const settler = async () => {
        for (let batch = queue.shift(); batch; batch = queue.shift()) await customers[0]?.metering.settle(batch);
      };
      await Promise.all([settler(), settler(), settler()]).finally(() => (isDone = true));
    };
    await Promise.all([settling(), roll(0), roll(25), ...customers.map(watch)]);
    for (const customer of customers) {
      expect(charged((await read(customer, { from: "2026-12-01" })).total)).toBe(120n * cost);
      expect(await money.balance(customer.workspace)).toBe(usd - 120n * cost);
    }
    await money.expectSound();
  }, 60_000);

  test("rows beyond the maximum are summed in one, so that the total stays exact", async () => {
    const customer = await money.customer();
    const models = ["a", "b", "c", "d"].map((model, index) =>
      customer.ended({ admittedAt: now - 1_000, model, usage: { ...customer.ended().usage, promptTokens: 100 * (index + 1) } }),
    );
    await customer.metering.settle(models);
    const usage = await read(customer, { from: "2026-12-01", by: "day,model" }, 2);
    expect(usage.data.map(({ period, model }) => [period, model])).toEqual([
      ["2026-12-01", "d"],
      ["2026-12-01", "c"],
    ]);
    expect(usage.rest).toMatchObject({ rows: 2, requests: 2, prompt_tokens: 300 });
    expect(sumOf(usage) + charged(usage.rest ?? usage.total)).toBe(await ledger(customer));
    expect(charged(usage.total)).toBe(await ledger(customer));
  });

  test("with series, the dearest names are listed by day and the others once, and the periods have all", async () => {
    const customer = await money.customer();
    const day = (date: number) => Date.UTC(2026, 10, date);
    const cheap = { ...customer.ended().usage, promptTokens: 1 };
    await customer.metering.settle([
      ...[4, 5, 6].map((date) => customer.ended({ admittedAt: day(date), model: "acme/dear" })),
      ...[4, 6].map((date) => customer.ended({ admittedAt: day(date), model: "acme/cheap", usage: cheap })),
    ]);
    await rollUp();
    const fields = { from: "2026-11-01", by: "day,model" };
    const query = { workspace: customer.workspace, keys: null, model: null, fields, seriesMax: 1 };
    const { data, periods = [], total } = await readUsage(query, { sql: money.sql, clock });
    expect(data.map((row) => [row.period, row.model, row.requests])).toEqual([
      [undefined, "acme/cheap", 2],
      ["2026-11-04", "acme/dear", 1],
      ["2026-11-05", "acme/dear", 1],
      ["2026-11-06", "acme/dear", 1],
    ]);
    expect(periods.map((row) => [row.period, row.requests])).toEqual([
      ["2026-11-04", 2],
      ["2026-11-05", 1],
      ["2026-11-06", 2],
    ]);
    const sum = (rows: { cost_usd: string }[]): bigint => rows.reduce((all, row) => all + charged(row), 0n);
    expect([sum(data), sum(periods), charged(total)]).toEqual(Array(3).fill(await ledger(customer)));
  });

  test("with series, whatever the names and the zone, each sum is that of all names by day", async () => {
    const customer = await money.customer();
    const models = ["acme/a", "acme/b", "acme/c", "other/d"];
    const settlements = Array.from({ length: 60 }, (_, index) => {
      const usage = { ...customer.ended().usage, promptTokens: 1 + ((index * 7) % 31) };
      return customer.ended({ admittedAt: now - index * 7 * 3_600_000 - 1, model: models[index % 4] ?? "", usage });
    });
    await customer.metering.settle(settlements.slice(10));
    await rollUp();
    await customer.metering.settle(settlements.slice(0, 10));
    for (const tz of zones) {
      for (const name of ["model", "key", "member"] as const) {
        const fields = { from: "2026-11-01", by: `day,${name}`, tz };
        const asked = { workspace: customer.workspace, keys: null, model: null, fields };
        const all = await readUsage({ ...asked, rowsMax: 5_000 }, { sql: money.sql, clock });
        const { data, periods, rest, total } = await readUsage(
          { ...asked, seriesMax: 2, rowsMax: 70 },
          { sql: money.sql, clock },
        );
        const listed = data.filter(({ period }) => period !== undefined);
        const names = new Set(listed.map((row) => nameOf(row, name)));
        expect(names.size).toBe(name === "model" ? 2 : 1);
        expect(listed).toEqual(all.data.filter((row) => names.has(nameOf(row, name))));
        expect([total, rest]).toEqual([all.total, null]);
        expect(
          sumsBy(
            data.filter(({ period }) => period === undefined),
            name,
          ),
        ).toEqual(
          sumsBy(
            all.data.filter((row) => !names.has(nameOf(row, name))),
            name,
          ),
        );
        expect(sumsBy(periods ?? [], "period")).toEqual(sumsBy(all.data, "period"));
        const few = await readUsage({ ...asked, seriesMax: 2, rowsMax: 3 }, { sql: money.sql, clock });
        expect([few.data.length, few.total]).toEqual([3, all.total]);
        expect(sumOf(few) + charged(few.rest ?? few.total)).toBe(charged(all.total));
      }
    }
  });

  test("calls with own keys count with what they would have cost, and no charge", async () => {
    const customer = await money.customer();
    const prices = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
    await customer.metering.settle([
      customer.ended({
        prices,
        reserved: "0",
        ownKey: { id: "own-1", listCost: "200000" },
        admittedAt: now - 1,
        endpoint: "embeddings",
      }),
    ]);
    const { data } = await read(customer, { from: "2026-12-01", by: "provider,endpoint" });
    expect(data).toEqual([
      {
        provider: "sandbox",
        endpoint: "embeddings",
        requests: 1,
        errors: 0,
        prompt_tokens: 100,
        cached_tokens: 0,
        cache_write_tokens: 0,
        completion_tokens: 50,
        cost_usd: "0.000000000",
        list_cost_usd: "0.000200000",
      },
    ]);
  });
});
