/** Retention deletes whole months, and neither money nor its proof. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { retainLog } from "../../../src/gateway/generations/retain.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { ManualClock } from "../../support/clock.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";
import { event } from "../../support/gateway/metering.ts";
import { alarmsRaised, cost, StoredMoney, usd, type Customer } from "../../support/gateway/stored-money.ts";

const operator = { kind: "operator" } as const;
const now = Date.UTC(2026, 10, 20, 12);
const dayMs = 86_400_000;
/** Noon of the fifth of a month this many months before. */
const before = (months: number): number => Date.UTC(2026, 10 - months, 5, 12);

describe.each(databases)("retention on $name", ({ name: databaseName, open, runsAll }) => {
  let database: TestDatabase;
  let money: StoredMoney;
  let customer: Customer;
  beforeAll(async () => {
    database = await open();
    money = new StoredMoney(database.sql);
  }, 60_000);
  beforeEach(async () => {
    customer = await money.customer();
    // A month that an earlier test has deleted is new again.
    await money.sql`DELETE FROM retained_months`;
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const clock = (): ManualClock => {
    const manual = new ManualClock();
    manual.advance(now - manual.now());
    return manual;
  };
  const retain = (months: number) => retainLog({ actor: operator, months }, { sql: money.sql, clock: clock() });
  const retainedMonths = async () => {
    const rows = await money.sql<{ month: string }[]>`SELECT month FROM retained_months`;
    return new Set(rows.map(({ month }) => month));
  };
  const stored = async () => (await money.charges(customer.workspace)).length;

  test("it deletes the months before those that are kept, and repeating it does nothing", async () => {
    const { metering, ended } = customer;
    await metering.settle([before(4), before(3), before(2), before(1), now].map((admittedAt) => ended({ admittedAt })));
    const { months } = await retain(2);
    // Partitions of other tests are empty.
    const filled = months.filter(({ generations }) => generations > 0);
    expect(filled.map(({ month, generations }) => [month, generations])).toEqual([
      ["2026-07", 1],
      ["2026-08", 1],
    ]);
    expect(months.every(({ bytes }) => bytes > 0)).toBe(true);
    expect(await stored()).toBe(3);
    expect(await retain(2)).toEqual({ months: [] });
    expect(await money.balance(customer.workspace)).toBe(usd - 5n * cost);
    await money.expectSound();
    const events = await money.sql`SELECT event, target FROM audit_events WHERE event = 'log.retained' ORDER BY id`;
    expect(events.slice(-2).map(({ target }) => String(target))).toEqual(["2026-07", "2026-08"]);
  });

  if (!runsAll) return;

  test("retention that comes between two checks of a verification waits for its end", async () => {
    // The embedded database has one connection, which the verification occupies.
    if (databaseName === "the embedded database") return;
    const { metering, ended } = customer;
    await metering.settle([ended({ admittedAt: before(4) })]);
    const isAwaited = async (table: string) =>
      (await money.sql`SELECT FROM pg_locks WHERE relation = ${table}::regclass AND NOT granted`).length > 0;
    const holder = await money.sql.reserve();
    await holder`BEGIN`;
    await holder`LOCK TABLE credit_accounts IN ACCESS EXCLUSIVE MODE`;
    const verified = verifyLedger({ sql: money.sql });
    await until(() => isAwaited("credit_accounts"));
    let isRetained = false;
    const retained = retain(2).finally(() => (isRetained = true));
    await until(async () => isRetained || (await isAwaited("generations")));
    await holder`COMMIT`;
    holder.release();
    expect((await verified).broken).toBeNull();
    expect((await retained).months.filter(({ generations }) => generations > 0)).toMatchObject([{ month: "2026-07" }]);
    await money.expectSound();
  });

  test("generations with a workspace's own key count in the sums as generations, and not as charges", async () => {
    const { metering, ended, workspace } = customer;
    const prices = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
    const own = { prices, reserved: "0", ownKey: { id: "own-1", listCost: "200000" }, admittedAt: before(6) };
    await metering.settle([ended({ admittedAt: before(6) }), ended(own)]);
    await metering.settle([ended(own)]);
    await retain(2);
    const [day] = await money.sql`
      SELECT generations, charges, cost_nano FROM generation_days WHERE workspace_id = ${workspace}`;
    expect(day).toEqual({ generations: 3n, charges: 1n, cost_nano: cost });
    await money.expectSound();
  });

  test("the sums by workspace, key, model and day stay", async () => {
    const { metering, ended, workspace, key } = customer;
    const failed = { status: 502, code: "upstream_error", usage: { ...ended().usage, promptTokens: 0, completionTokens: 0 } };
    await metering.settle([
      ended({ admittedAt: before(5) }),
      ended({ admittedAt: before(5) + 1 }),
      ended({ admittedAt: before(5) + dayMs, ...failed }),
      ended({ admittedAt: before(5), model: "another" }),
    ]);
    await retain(2);
    const days = await money.sql`
      SELECT key_id, model, to_char(day, 'YYYY-MM-DD') AS day, generations, charges, failed, prompt_tokens, completion_tokens, cost_nano
      FROM generation_days WHERE workspace_id = ${workspace} ORDER BY model, day`;
    const sums = { key_id: key, charges: 1n, failed: 0n, prompt_tokens: 100n, completion_tokens: 50n, cost_nano: cost };
    expect([...days]).toEqual([
      { ...sums, model: "another", day: "2026-06-05", generations: 1n },
      {
        ...sums,
        model: "sandbox/echo",
        day: "2026-06-05",
        generations: 2n,
        charges: 2n,
        prompt_tokens: 200n,
        completion_tokens: 100n,
        cost_nano: 2n * cost,
      },
      {
        ...sums,
        model: "sandbox/echo",
        day: "2026-06-06",
        generations: 1n,
        failed: 1n,
        prompt_tokens: 0n,
        completion_tokens: 0n,
        cost_nano: 0n,
      },
    ]);
    await money.expectSound();
  });

  test("a settlement of a deleted month is set aside with an alarm, twice and out of order, and the others are charged", async () => {
    const { metering, ended, workspace } = customer;
    const [booked, unbooked] = [ended({ admittedAt: before(6) }), ended({ admittedAt: before(6) })];
    await metering.settle([booked]);
    await retain(2);
    const raised = await alarmsRaised("settlement.dead");
    // One process still remembers the month, another has never seen it.
    const other = new (metering.constructor as new (sql: typeof money.sql) => typeof metering)(money.sql);
    for (const process of [metering, other, metering]) await process.deliver(event([ended(), unbooked, booked]), event([booked]));
    expect(await money.balance(workspace)).toBe(usd - 4n * cost);
    expect(await stored()).toBe(3);
    expect(await alarmsRaised("settlement.dead")).toBeGreaterThan(raised + 3);
    expect((await money.deadLetters(booked.generation)).length).toBeGreaterThan(1);
    expect((await money.deadLetters(unbooked.generation)).some(({ reason }) => reason.includes("was deleted by retention"))).toBe(
      true,
    );
    await money.expectSound();
  });

  test("an id of a year ahead or behind is booked in its own month; one further away is set aside", async () => {
    const { metering, ended, workspace } = customer;
    const at = (ms: number): Settlement => ended({ generation: newGenerationId(ms), admittedAt: now });
    const [ahead, behind] = [at(now + 365 * dayMs), at(now - 365 * dayMs)];
    const tooFar = [at(now + 401 * dayMs), at(0)];
    await metering.settle([ahead, behind, ...tooFar, ended()]);
    expect(await money.balance(workspace)).toBe(usd - 3n * cost);
    const months = await money.sql<{ month: string }[]>`
      SELECT tableoid::regclass::text AS month FROM generations WHERE generation_id = ANY(${[ahead, behind].map((one) => one.generation)}::text[])`;
    expect(months.map(({ month }) => month).toSorted()).toEqual(["generations_2025_11", "generations_2027_11"]);
    for (const { generation } of tooFar) {
      expect((await money.deadLetters(generation))[0]?.reason).toContain("it was admitted at 2026-11-20T12:00:00.000Z");
    }
    await metering.settle([behind], [ahead]);
    expect(await money.balance(workspace)).toBe(usd - 3n * cost);
    await money.expectSound();
  });

  test("the ledger is proved after any settlements and any retention", async () => {
    const step = fc.oneof(
      {
        weight: 3,
        arbitrary: fc.array(fc.record({ months: fc.nat(5), tokens: fc.nat(200), key: fc.nat(1), late: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
      },
      { weight: 1, arbitrary: fc.integer({ min: 2, max: 4 }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
        await money.sql`DELETE FROM retained_months`;
        const { metering, ended, workspace, name } = await money.customer();
        const keys = [customer.key, (await money.control.key(name)).id];
        let charged = 0n;
        for (const one of steps) {
          if (typeof one === "number") await retain(one);
          else {
            const gone = await retainedMonths();
            const list = one.map(({ months, tokens, key }) =>
              ended({
                admittedAt: before(months),
                key: keys[key] ?? "",
                usage: { ...ended().usage, promptTokens: tokens, completionTokens: 0 },
              }),
            );
            const lost = list
              .filter((_, n) => one[n]?.late)
              .map((settled) => ({ ...settled, outcome: "unknown" as const, usage: { ...settled.usage, promptTokens: 0 } }));
            await metering.settle(lost);
            await metering.settle(list);
            const bookable = list.filter(({ month }) => !gone.has(month));
            charged += bookable.reduce((sum, { usage }) => sum + BigInt(usage.promptTokens) * 1_000n, 0n);
          }
        }
        expect(await money.balance(workspace)).toBe(usd - charged);
        await money.expectSound();
      }),
      { numRuns: 12 },
    );
  }, 60_000);
});
