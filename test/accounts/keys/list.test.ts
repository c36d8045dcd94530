import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";

describe.each(oneDatabase)("listing keys on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspace: string;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    workspace = await control.workspace("w", "10");
    await control.workspace("elsewhere");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const names = async (path: string, as?: string) =>
    (await control.list(path, as === undefined ? {} : { as })).map(({ name }) => name);

  test("members see their own keys, overseers those of the workspace, and the operator all", async () => {
    await control.key("w", { name: "of member" });
    control.clock.advance(1);
    await control.key("w", { name: "of admin", owner: "admin@w" });
    control.clock.advance(1);
    await control.key("elsewhere", { name: "far" });
    expect(await names("/keys?workspace=w", "member@w")).toEqual(["of member"]);
    for (const as of ["auditor@w", "admin@w", "super_admin@w"]) {
      expect(await names("/keys?workspace=w", as)).toEqual(["of member", "of admin"]);
    }
    expect(await names("/keys")).toEqual(["of member", "of admin", "far"]);
  });

  test("a key is listed only in its workspace", async () => {
    const { id } = await control.key("elsewhere", { name: "hidden" });
    expect(await control.refusal("GET", `/keys/${id}?workspace=w`)).toBe("404 not_found id");
    expect(await control.refusal("GET", `/keys/${id}?workspace=w`, { as: "admin@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/keys/${id}`, { as: "admin@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", "/keys/key-unknown")).toBe("404 not_found id");
  });

  test("the list shows the spend of the current month in UTC", async () => {
    const { id } = await control.key("w", { name: "spender" });
    const october = Date.UTC(2026, 9, 31, 23, 59);
    await book(database.sql, settlement({ workspace, key: id, admittedAt: october }), settlement({ workspace, key: id }));
    expect(await control.expect("GET", `/keys/${id}`)).toMatchObject({ month_spent_usd: "0.000200000" });
  });

  test("a limit says what open requests reserve of it and what is left, for a key, its member and the workspace", async () => {
    const { id } = await control.key("w", { name: "limited", monthly_spend_limit_usd: "1", daily_spend_limit_usd: "0.01" });
    await book(database.sql, settlement({ workspace, key: id }));
    control.clock.advance(86_400_000);
    control.reserved = new Map([
      [id, 300_000_000n],
      ["key-unknown", 1n],
    ]);
    const amounts = { reserved_usd: "0.300000000", month_left_usd: "0.699800000", day_left_usd: "0.000000000" };
    expect(await control.expect("GET", `/keys/${id}`)).toMatchObject(amounts);
    expect(await control.list("/keys?workspace=w")).toContainEqual(expect.objectContaining({ id, ...amounts }));
    const { id: other } = await control.key("w", { name: "unlimited" });
    const unlimited = { reserved_usd: "0.000000000", month_left_usd: null, day_left_usd: null };
    expect(await control.expect("GET", `/keys/${other}`)).toMatchObject(unlimited);
    await control.expect("PATCH", "/members/member@w", { body: { workspace: "w", monthly_spend_limit_usd: "5" } });
    const [member] = await control.list("/members?workspace=w&email=member@w");
    expect(member).toMatchObject({ reserved_usd: "0.300000000" });
    const spent = Number(member?.["month_spent_usd"]);
    expect(Number(member?.["month_left_usd"])).toBeCloseTo(5 - 0.3 - spent, 8);
    const [hidden] = await control.list("/members?workspace=w&email=admin@w", { as: "member@w" });
    expect(hidden).toMatchObject({ reserved_usd: null, month_left_usd: null });
    control.reserved = null;
    expect(await control.expect("GET", `/keys/${id}`)).toMatchObject({
      reserved_usd: null,
      month_left_usd: null,
      day_left_usd: null,
    });
    control.reserved = new Map();
    await control.expect("PATCH", "/workspaces/w", { body: { spend_limit_usd: "2" } });
    control.position = { balance: 5n, reserved: 500_000_000n, available: 5n, keySpent: null, month: "2026-11" };
    const { month_spent_usd: ofAll, month_left_usd: left } = await control.expect("GET", "/workspaces/w");
    expect(Number(left)).toBeCloseTo(2 - 0.5 - Number(ofAll), 8);
    control.position = null;
    expect(await control.expect("GET", "/workspaces/w")).toMatchObject({ month_left_usd: null });
  });

  test("the list shows when a key was last used", async () => {
    const { id } = await control.key("w", { name: "used" });
    const admittedAt = Date.UTC(2026, 10, 20, 13);
    await book(database.sql, settlement({ workspace, key: id, admittedAt }));
    expect(await control.expect("GET", `/keys/${id}`)).toMatchObject({ last_used_at: "2026-11-20T13:00:00.000Z" });
  });

  test("a key that was created before ends were stored shows only its start", async () => {
    const { id, key } = await control.key("w", { name: "old" });
    await database.sql`UPDATE api_keys SET last_four = NULL WHERE id = ${id}`;
    expect(await control.expect("GET", `/keys/${id}`)).toMatchObject({ masked: key.slice(0, 21) });
  });
});
