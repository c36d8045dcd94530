import { expect, test } from "bun:test";
import type { Database } from "../../../src/backing/backing.ts";
import { retainLog } from "../../../src/gateway/generations/retain.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { readUsage } from "../../../src/gateway/usage/usage.ts";
import { rollUpUsage } from "../../../src/gateway/usage/roll-up.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { cost, StoredMoney, type Customer } from "../../support/gateway/stored-money.ts";
import { oneDatabase } from "../../support/servers/databases.ts";

const now = Date.UTC(2026, 10, 20, 12);
const august = Date.UTC(2026, 7, 5, 12);
const clock = new ManualClock(now);

const days = async ({ workspace }: Customer, sql: Database) => {
  const fields = { from: "2026-01-01", by: "day,provider" };
  const { data } = await readUsage({ workspace, keys: null, model: null, fields }, { sql, clock });
  return data.map((row) => [row.period, row.provider, row.requests, row.cost_usd]);
};
const usdOf = (charges: bigint): string => `0.000${charges * (cost / 1_000n)}000`;

test.each(oneDatabase)("months that retention deletes keep their usage, on $name", async ({ open }) => {
  await using database = await open();
  const { sql } = database;
  const money = new StoredMoney(sql);
  const customer = await money.customer();
  const retain = () => retainLog({ actor: { kind: "operator" }, months: 2 }, { sql, clock });
  await customer.metering.settle([customer.ended({ admittedAt: august }), customer.ended({ admittedAt: now - 1 })]);
  const all = [
    ["2026-08-05", "sandbox", 1, usdOf(1n)],
    ["2026-11-20", "sandbox", 1, usdOf(1n)],
  ];
  await retain();
  expect(await days(customer, sql)).toEqual(all);
  await rollUpUsage({ sql, clock });
  expect(await days(customer, sql)).toEqual(all);
  await money.expectSound();
});

test.each(oneDatabase)("a month stays while its usage is not rolled up, on $name", async ({ open }) => {
  await using database = await open();
  const { sql } = database;
  const customer = await new StoredMoney(sql).customer();
  await customer.metering.settle([customer.ended({ admittedAt: august })]);
  const other = await sql.reserve();
  await other`SELECT pg_advisory_lock(hashtext('usage roll-up'))`;
  const refusal = await failureOf(retainLog({ actor: { kind: "operator" }, months: 2 }, { sql, clock }));
  expect(String(refusal)).toContain("Cannot delete 2026-08: its usage is still being summed; try again later");
  await other`SELECT pg_advisory_unlock(hashtext('usage roll-up'))`;
  other.release();
  expect(await days(customer, sql)).toHaveLength(1);
});

test.each(oneDatabase)(
  "ledger verify names usage that lacks a nano-USD, and a span or a kind that differs from the other sums, on $name",
  async ({ open }) => {
    await using database = await open();
    const { sql } = database;
    const customer = await new StoredMoney(sql).customer();
    await customer.metering.settle([customer.ended({ admittedAt: august })]);
    await rollUpUsage({ sql, clock });
    const { workspace, key } = customer;
    const broken = async () => (await verifyLedger({ sql })).broken;
    expect(await broken()).toBeNull();
    await sql`UPDATE usage_sums SET charge_nano = charge_nano - 1`;
    expect(await broken()).toEqual({
      invariant: "usage_adds_up",
      detail: `workspace ${workspace}, key ${key}, model sandbox/echo: 1 generations of 200000, usage of 1 generations and 199999`,
    });
    await sql`UPDATE usage_sums SET charge_nano = charge_nano + 1 WHERE span < 96`;
    expect(await broken()).toEqual({
      invariant: "usage_spans_agree",
      detail:
        "series 1: 1 requests of 200000 by quarters, 1 of 200000 by hours, 1 of 200000 by six hours, 1 of 199999 by days, 1 of 199999 by eight days",
    });
    await sql`UPDATE usage_sums SET charge_nano = charge_nano + CASE WHEN span >= 96 THEN 1 ELSE 0 END - CASE WHEN kind = 1 THEN 1 ELSE 0 END`;
    const quarter = august / 900_000;
    expect(await broken()).toEqual({
      invariant: "usage_kinds_agree",
      detail: `workspace number 1, quarter ${quarter}: 1 requests of 200000, 1 of 199999 by keys, 1 of 200000 by models, 1 of 200000 in all`,
    });
  },
);
