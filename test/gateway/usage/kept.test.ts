import { expect, test } from "bun:test";
import type { Database } from "../../../src/backing/backing.ts";
import { migrate, readMigrations } from "../../../src/backing/migrate.ts";
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

test.each(oneDatabase)(
  "usage has what was there before it: generations, and days of months that were deleted, on $name",
  async ({ openBefore }) => {
    await using database = await openBefore("0023-usage.sql");
    const { sql } = database;
    await sql`INSERT INTO workspaces (id, name) VALUES ('ws-1', 'w')`;
    await sql`
    INSERT INTO generation_days VALUES ('ws-1', 'key-1', 'sandbox/echo', '2026-05-31', 3, 2, 1, 300, 0, 150, ${2n * cost}, 0)`;
    const at = new Date(august);
    await sql`SELECT make_generations_month('2026-08')`;
    const id = `gen-${"3odaaaaaaaaaaaaaaaaaaaaaaa".slice(0, 26)}`;
    await sql`
    INSERT INTO generations (generation_id, entry, reserved_nano, cost_nano, admitted_at, prompt_tokens, cached_tokens, completion_tokens,
      duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id, workspace_id, key_id, model, provider)
    SELECT first_generation_id(${at}) || substr(${id}, 14), 1, ${cost}, ${cost}, ${at}, 100, 0, 50, 34, 200, false, false, false, 200000000, 'settled', 'req', 'ws-1', 'key-1',
      'sandbox/echo', 'sandbox'`;
    await migrate(sql);
    const customer = { workspace: "ws-1" } as Customer;
    const all = [
      ["2026-05-31", "unknown", 3, usdOf(2n)],
      ["2026-08-05", "sandbox", 1, usdOf(1n)],
    ];
    expect(await days(customer, sql)).toEqual(all);
    await rollUpUsage({ sql, clock });
    expect(await days(customer, sql)).toEqual(all);
  },
);

test.each(oneDatabase)(
  "sums of eight days and of whole workspaces are made of those before them, and no older process adds to the others alone, on $name",
  async ({ openBefore }) => {
    const tested = "0035-long-usage-spans.sql";
    await using database = await openBefore(tested);
    const { sql } = database;
    // Settlement of this version needs the later ones.
    await migrate(
      sql,
      (await readMigrations()).filter(({ name }) => name !== tested),
    );
    const customer = await new StoredMoney(sql).customer();
    await customer.metering.settle([august, august + 9 * 86_400_000].map((admittedAt) => customer.ended({ admittedAt })));
    await rollUpUsage({ sql, clock });
    await sql`DELETE FROM usage_sums WHERE span = 768 OR kind = 3`;
    await sql`DELETE FROM usage_series WHERE key_id = '*' AND model = '*'`;
    await migrate(sql);
    expect((await verifyLedger({ sql })).broken).toBeNull();
    const fields = { from: "2026-01-01" };
    const { total } = await readUsage({ workspace: customer.workspace, keys: null, model: null, fields }, { sql, clock });
    expect([total.requests, total.cost_usd]).toEqual([2, usdOf(2n)]);
    expect(String(await failureOf(Promise.resolve(sql`UPDATE usage_state SET summed_before = 0`)))).toContain("newer version");
    await customer.metering.settle([customer.ended({ admittedAt: august + 1 })]);
    await rollUpUsage({ sql, clock });
    expect((await verifyLedger({ sql })).broken).toBeNull();
  },
);
