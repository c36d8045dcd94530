import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { columnFields } from "../../../src/gateway/generation-fields.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { selectKey } from "../../../src/accounts/keys/store.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { alarmsRaised, cost, StoredMoney, usd } from "../../support/gateway/stored-money.ts";

/** What the settlement of a test does not have. */
const withoutFields = Object.fromEntries(columnFields.map(({ name }) => [name, null]));

describe.each(databases)("the rows of a charge on $name", ({ open }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  test("the charge adds to the totals of its month of admission, by workspace and by key", async () => {
    const { name, workspace, key, metering, ended } = await money.customer();
    const other = (await money.control.key(name)).id;
    const november = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
    const settlements = [
      ended({ admittedAt: november }),
      ended({ admittedAt: november + 1 }),
      ended({ admittedAt: november + 1, key: other }),
      ended({ admittedAt: november + 2 }),
    ];
    await metering.settle(settlements);
    expect(
      await money.sql`SELECT month, spent_nano FROM workspace_months WHERE workspace_id = ${workspace} ORDER BY month`,
    ).toEqual(
      expect.arrayContaining([
        { month: "2026-11", spent_nano: cost },
        { month: "2026-12", spent_nano: 3n * cost },
      ]),
    );
    const keys = await money.sql`
      SELECT key_id, month, spent_nano, version FROM key_months WHERE key_id = ANY(${[key, other]}::text[]) ORDER BY month, spent_nano`;
    expect([...keys]).toEqual([
      { key_id: key, month: "2026-11", spent_nano: cost, version: 1n },
      { key_id: other, month: "2026-12", spent_nano: cost, version: 1n },
      { key_id: key, month: "2026-12", spent_nano: 2n * cost, version: 1n },
    ]);
    await money.expectSound();
  });

  test("the row of a routed generation has its calls", async () => {
    const { metering, ended } = await money.customer();
    const attempts = [
      { provider: "a,b", model: 'acme/"one"', own_key: false, code: "upstream_error", ms: 12 },
      { provider: "sandbox", model: "sandbox/echo", own_key: false, code: null, ms: 34 },
    ];
    const routing = { requested: "acme/one", attempts };
    const charged = ended({ routing });
    await metering.settle([charged], [charged]);
    const [row] = await money.sql`SELECT attempts FROM generations WHERE generation_id = ${charged.generation}`;
    expect(row?.["attempts"]).toEqual(routing);
  });

  test("the charge has one row, with all fields of its settlement", async () => {
    const { workspace, key, metering, ended } = await money.customer();
    const usage = { promptTokens: 70, cachedTokens: 30, cacheWriteTokens: 5, completionTokens: 9, reasoningTokens: 4 };
    const charged = ended({
      usage,
      tierAboveTokens: 60,
      usageEstimated: true,
      status: 504,
      code: "upstream_timeout",
      streamed: true,
      firstTokenMs: null,
      endpoint: "completions",
    });
    await metering.settle([charged], [charged]);
    const rows = await money.sql`SELECT * FROM generations WHERE generation_id = ${charged.generation}`;
    expect([...rows]).toEqual([
      {
        ...withoutFields,
        generation_id: charged.generation,
        entry: 2n,
        reserved_nano: 1_000_000n,
        cost_nano: 88_000n,
        excess_nano: 0n,
        admitted_at: new Date(charged.admittedAt),
        prompt_tokens: 70,
        cached_tokens: 30,
        completion_tokens: 9,
        first_token_ms: null,
        duration_ms: 34,
        status: 504,
        late: false,
        streamed: true,
        usage_estimated: true,
        cost_pico: "88000000",
        outcome: "settled",
        request_id: charged.request,
        workspace_id: workspace,
        key_id: key,
        model: charged.model,
        provider: charged.provider,
        code: "upstream_timeout",
        booked_at: null,
        month: null,
        cache_write_tokens: 5,
        reasoning_tokens: 4,
        tier_above_tokens: 60,
        endpoint: "completions",
      },
    ]);
  });

  test("a generation's cost is rounded half up to the nano-dollar once", async () => {
    const { workspace, metering, ended } = await money.customer();
    const of = (input: string, promptTokens: number) =>
      ended({
        generation: newGenerationId(Date.UTC(2026, 10, 20)),
        prices: { input, output: "0", cacheRead: "0", cacheWrite: "0" },
        usage: { ...ended().usage, promptTokens },
      });
    const list = [of("499", 1), of("500", 1), of("1499", 1), of("1", 1_500), of("37500", 1)];
    await metering.settle(list);
    const costs = new Map((await money.charges(workspace)).map((row) => [row.generation_id, row.cost_nano]));
    expect(list.map(({ generation }) => costs.get(generation))).toEqual([0n, 1n, 1n, 2n, 38n]);
    await money.expectSound();
  });

  test("a key's last use is its newest time of admission", async () => {
    const { key, metering, ended } = await money.customer();
    const lastUsed = async () => (await selectKey({ id: key, now: Date.UTC(2026, 10, 20) }, money.sql))?.lastUsedAt;
    expect(await lastUsed()).toBeNull();
    const noon = Date.UTC(2026, 10, 20, 12);
    await metering.settle([ended({ admittedAt: noon }), ended({ admittedAt: noon + 5_000 })]);
    expect(await lastUsed()).toEqual(new Date(noon + 5_000));
    await metering.settle([ended({ admittedAt: noon + 2_000 })]);
    expect(await lastUsed()).toEqual(new Date(noon + 5_000));
    await metering.settle([ended({ admittedAt: noon + 7_000 })]);
    expect(await lastUsed()).toEqual(new Date(noon + 7_000));
    const december = Date.UTC(2026, 11, 1);
    await metering.settle([ended({ admittedAt: december })]);
    await metering.settle([ended({ admittedAt: noon + 9_000 })]);
    expect(await lastUsed()).toEqual(new Date(december));
  });

  const excessOf = async (generation: string) => {
    const [row] = await money.sql<{ cost_nano: bigint; excess_nano: bigint }[]>`
      SELECT cost_nano, excess_nano FROM generations WHERE generation_id = ${generation}`;
    return row;
  };

  test("a charge is limited to its reservation; the excess is stored and raises an alarm", async () => {
    const { workspace, metering, ended } = await money.customer();
    const before = await alarmsRaised("charge.above_reservation");
    const above = ended({ reserved: (cost - 1n).toString() });
    await metering.settle([above, ended({ reserved: cost.toString() })]);
    expect(await alarmsRaised("charge.above_reservation")).toBe(before + 1);
    expect(await money.balance(workspace)).toBe(usd - 2n * cost + 1n);
    expect(await excessOf(above.generation)).toEqual({ cost_nano: cost - 1n, excess_nano: 1n });
    await money.expectSound();
  });

  test("a count beyond any column is charged with the reservation, without a dead letter", async () => {
    const { workspace, metering, ended } = await money.customer();
    const prices = { input: "999999999999", output: "999999999999", cacheRead: "0", cacheWrite: "0" };
    const count = Number.MAX_SAFE_INTEGER;
    const absurd = ended({ prices, usage: { ...ended().usage, promptTokens: count, cachedTokens: 0, completionTokens: count } });
    await metering.settle([absurd]);
    expect(await money.balance(workspace)).toBe(usd - BigInt(absurd.reserved));
    expect(await excessOf(absurd.generation)).toEqual({
      cost_nano: BigInt(absurd.reserved),
      excess_nano: 2n ** 63n - 1n - BigInt(absurd.reserved),
    });
    await money.expectSound();
  });

  test("a charge after the release of its reservation is limited to the balance", async () => {
    const { workspace, metering, ended } = await money.customer();
    const spent = ended({ reserved: (usd - 1n).toString(), prices: { ...ended().prices, input: "99999999999" } });
    const late = ended();
    await metering.settle([{ ...late, outcome: "expired", usage: { ...late.usage, promptTokens: 0, completionTokens: 0 } }]);
    await metering.settle([spent]);
    await metering.settle([late]);
    expect(await money.balance(workspace)).toBe(0n);
    expect(await excessOf(late.generation)).toEqual({ cost_nano: 1n, excess_nano: cost - 1n });
    await money.expectSound();
  });
});
