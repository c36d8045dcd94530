import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findKeyRecords } from "../../../src/accounts/keys/find.ts";
import { openBudgets } from "../../../src/gateway/credit/store.ts";
import { loadAccount } from "../../../src/gateway/credit/load.ts";
import { budgetsOf } from "../../../src/gateway/credit/budgets.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { dayOf } from "../../../src/kernel/clock.ts";
import { hashKey } from "../../../src/kernel/ids.ts";
import { Control } from "../../support/control.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("budgets on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const changes = async (workspace: string) =>
    (await control.list(`/audit?workspace=${workspace}`)).map(({ event, changes: changed }) => [event, changed]);
  const patch = (path: string, body: Record<string, unknown>, as?: string) =>
    control.expect("PATCH", path, { body, ...(as !== undefined && { as }) });
  const recordOf = async (key: string) => (await findKeyRecords([hashKey(key)], database.sql)).get(hashKey(key));

  test("a budget is off until it is set, and each change is recorded with the changed field alone", async () => {
    await control.workspace("set");
    const { id, key } = await control.key("set");
    expect(budgetsOf((await recordOf(key)) ?? { id: "" })).toBeNull();
    const before = (await changes("set")).length;
    expect(await patch(`/keys/${id}`, { daily_spend_limit_usd: "2.5" }, "member@set")).toMatchObject({
      daily_spend_limit_usd: "2.500000000",
      monthly_spend_limit_usd: null,
      day_spent_usd: "0.000000000",
    });
    expect(await patch("/workspaces/set", { daily_spend_limit_usd: "9" }, "admin@set")).toMatchObject({
      day_spent_usd: "0.000000000",
    });
    const member = { workspace: "set", monthly_spend_limit_usd: "7" };
    expect(await patch("/members/member@set", member, "admin@set")).toMatchObject({ monthly_spend_limit_usd: "7.000000000" });
    await patch("/members/member@set", member);
    expect((await changes("set")).slice(0, -before).toReversed()).toEqual([
      ["auth.api.key.updated", { daily_spend_limit_usd: { from: null, to: "2.500000000" } }],
      ["workspace.updated", { daily_spend_limit_usd: { from: null, to: "9.000000000" } }],
      ["workspace.member.updated", { monthly_spend_limit_usd: { from: null, to: "7.000000000" } }],
    ]);
    expect(budgetsOf((await recordOf(key)) ?? { id: "" })).toMatchObject([
      { name: `day:${id}`, limit: 2_500_000_000n },
      { name: "day:", limit: 9_000_000_000n },
      { name: expect.stringMatching(/^month:mbr-/), limit: 7_000_000_000n },
    ]);
    const { id: created } = await control.key("set", { daily_spend_limit_usd: "1" });
    expect(await control.expect("GET", `/keys/${created}`)).toMatchObject({ daily_spend_limit_usd: "1.000000000" });
  });

  test("an amount that is no budget is refused by its field, and so is who may not set it", async () => {
    await control.workspace("refused");
    const { id } = await control.key("refused");
    for (const amount of ["0", "-1", "1.001", "many", "9000001"]) {
      expect(await control.refusal("PATCH", `/keys/${id}`, { body: { daily_spend_limit_usd: amount } })).toBe(
        "400 invalid_field daily_spend_limit_usd",
      );
    }
    const member = (as: string) =>
      control.refusal("PATCH", "/members/member@refused", { body: { workspace: "refused", monthly_spend_limit_usd: "1" }, as });
    expect(await member("member@refused")).toBe("403 forbidden null");
    expect(await member("auditor@refused")).toBe("403 forbidden null");
    const workspace = { body: { daily_spend_limit_usd: "1" }, as: "member@refused" };
    expect(await control.refusal("PATCH", "/workspaces/refused", workspace)).toBe("403 forbidden null");
    await patch("/members/admin@refused", { workspace: "refused", monthly_spend_limit_usd: "1" });
    const [shown] = await control.list("/members?workspace=refused&email=admin@refused", { as: "member@refused" });
    expect(shown).toMatchObject({ monthly_spend_limit_usd: null, month_spent_usd: null });
  });

  test("a total begins with what was charged in its period, and settlement adds to it by the day of admission", async () => {
    const workspace = await control.workspace("totals", "5");
    const { id: key } = await control.key("totals", { daily_spend_limit_usd: "2" });
    const { id: other } = await control.key("totals");
    const day = dayOf(control.clock.now());
    const charge = (of: string, admittedAt: number) => book(database.sql, settlement({ workspace, key: of, admittedAt }));
    await charge(key, day + 1);
    await charge(key, day - 1);
    await charge(other, day + 1);
    const totals = [
      { name: `day:${key}`, since: day },
      { name: "day:", since: day },
    ];
    const opened = await openBudgets({ workspace, totals }, database.sql);
    expect(opened.map(({ spent }) => spent).toSorted()).toEqual([200_000n, 400_000n]);
    await charge(key, day + 86_399_999);
    await charge(key, day + 86_400_000);
    const budgets = (await loadAccount({ workspace, generations: [] }, database.sql))?.budgets ?? [];
    expect(new Map(budgets.map(({ name, spent }) => [name, spent]))).toEqual(
      new Map([
        [`day:${key}`, 400_000n],
        ["day:", 600_000n],
      ]),
    );
    expect(await control.expect("GET", `/keys/${key}`)).toMatchObject({ day_spent_usd: "0.000400000" });
    expect((await verifyLedger({ sql: database.sql })).broken).toBeNull();
    await database.sql`UPDATE budget_totals SET spent_nano = 7 WHERE workspace_id = ${workspace} AND name = 'day:'`;
    expect((await verifyLedger({ sql: database.sql })).broken).toEqual({
      invariant: "budget_totals",
      detail: `workspace ${workspace}, budget day: from ${day} on: a total of 7 where the charges sum up to 600000`,
    });
  });

  test("totals of days long past go when a later one is opened", async () => {
    const workspace = await control.workspace("past", "5");
    const day = dayOf(control.clock.now());
    for (const since of [day, day + 86_400_000, day + 3 * 86_400_000]) {
      await openBudgets({ workspace, totals: [{ name: "day:", since }] }, database.sql);
    }
    const rows = await database.sql<
      { since: bigint }[]
    >`SELECT since FROM budget_totals WHERE workspace_id = ${workspace} ORDER BY since`;
    expect(rows.map(({ since }) => Number(since))).toEqual([day + 86_400_000, day + 3 * 86_400_000]);
  });
});
