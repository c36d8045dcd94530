import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startSession } from "../../../src/accounts/sessions/sign-in.ts";
import { isoTime, monthOf } from "../../../src/kernel/clock.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("a member on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await control.workspace("w");
    await control.workspace("v");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const add = (member: Record<string, unknown>) => control.expect("POST", "/members", { body: { workspace: "w", ...member } });

  test("a person can have different roles in two workspaces, and one account", async () => {
    expect(await add({ email: "ada@example.com", role: "auditor" })).toEqual({
      email: "ada@example.com",
      role: "auditor",
      state: "active",
      monthly_spend_limit_usd: null,
    });
    await control.expect("POST", "/members", { body: { workspace: "v", email: "Ada@Example.com", role: "admin" } });
    expect(await database.sql`SELECT 1 FROM accounts WHERE email ILIKE 'ada@example.com'`).toHaveLength(1);
    const listed = (await control.list("/members?workspace=v")).find(({ email }) => email === "ada@example.com");
    expect(listed).toMatchObject({ email: "ada@example.com", role: "admin", state: "active" });
  });

  test("only admins and the operator can add a member, once, with a known role and an address", async () => {
    await add({ email: "bob@w", role: "member" });
    const body = { workspace: "w", email: "bob@w", role: "super_admin" };
    expect(await control.refusal("POST", "/members", { body })).toBe("409 conflict email");
    expect(await control.refusal("POST", "/members", { body, as: "member@w" })).toBe("403 forbidden null");
    expect(await control.refusal("POST", "/members", { body, as: "admin@w" })).toBe("403 forbidden email");
    expect(await control.refusal("POST", "/members", { body: { ...body, role: "owner" } })).toBe("400 invalid_field role");
    for (const email of ["bob", "b ob@w", "@", ""]) {
      expect(await control.refusal("POST", "/members", { body: { ...body, email } })).toBe("400 invalid_field email");
    }
  });

  test("a member is listed with the state of the account, or as deactivated", async () => {
    await add({ email: "gone@w", role: "member" });
    await add({ email: "locked@w", role: "member" });
    await database.sql`UPDATE members SET active = false WHERE email IN ('gone@w', 'locked@w')`;
    await database.sql`UPDATE accounts SET state = 'locked' WHERE email = 'locked@w'`;
    const states = Object.fromEntries((await control.list("/members?workspace=w")).map(({ email, state }) => [email, state]));
    expect(states).toMatchObject({ "gone@w": "deactivated", "locked@w": "locked", "admin@w": "active" });
  });

  test("a list shows what each member's keys do, to members only of their own", async () => {
    await control.workspace("uses", "1");
    const { id: key } = await control.key("uses");
    await control.key("uses", { owner: "admin@uses" });
    await control.expect("POST", `/keys/${(await control.key("uses")).id}/revoke`, { body: {} });
    await database.sql`INSERT INTO key_months (key_id, month, spent_nano, version) VALUES (${key}, ${monthOf(control.clock.now())}, 5, 1)`;
    const session = await startSession(
      { email: "member@uses", way: "password", agent: "", bothFactors: false },
      { sql: database.sql, clock: control.clock },
    );
    await control.call("GET", "/members?workspace=uses", {
      token: null,
      headers: { cookie: `weir=${session.token}`, host: "localhost" },
    });
    const own = {
      email: "member@uses",
      active_keys: 1,
      month_spent_usd: "0.000000005",
      last_seen_at: isoTime(control.clock.now()),
    };
    const listed = (as: string) => control.list("/members?workspace=uses", { as });
    expect((await listed("auditor@uses")).map(({ active_keys: keys }) => keys)).toEqual([1, 0, 1, 0]);
    expect(await listed("admin@uses")).toContainEqual(expect.objectContaining(own));
    const seen = await listed("member@uses");
    expect(seen).toContainEqual(expect.objectContaining(own));
    const hidden = { active_keys: null, month_spent_usd: null, last_seen_at: null };
    expect(seen).toContainEqual(expect.objectContaining({ email: "admin@uses", ...hidden }));
    expect((await control.list("/keys?workspace=uses&owner=Admin@uses")).map(({ owner }) => owner)).toEqual(["admin@uses"]);
    expect(await control.list("/keys?workspace=uses&owner=admin@uses", { as: "member@uses" })).toEqual([]);
  });

  test("a long list is read in pages, and one member alone", async () => {
    await control.workspace("pages");
    const read = async (query: string) => (await control.list(`/members?workspace=pages${query}`)).map(({ email }) => email);
    expect(await read("&limit=2")).toEqual(["admin@pages", "auditor@pages"]);
    expect(await read("&limit=2&after=Auditor@pages")).toEqual(["member@pages", "super_admin@pages"]);
    expect(await read("&email=Member@pages")).toEqual(["member@pages"]);
    expect(await control.refusal("GET", "/members?workspace=pages&limit=1001")).toBe("400 invalid_field limit");
  });

  describe("as whom the operator token acts", () => {
    test("the person must be an active member of the workspace with an active account", async () => {
      await add({ email: "past@w", role: "admin" });
      await add({ email: "suspended@w", role: "admin" });
      await database.sql`UPDATE members SET active = false WHERE email = 'past@w'`;
      await database.sql`UPDATE accounts SET state = 'suspended' WHERE email = 'suspended@w'`;
      for (const as of ["nobody@w", "admin@v", "past@w", "suspended@w", ""]) {
        expect(await control.refusal("GET", "/members?workspace=w", { as })).toBe("403 forbidden X-Act-As");
      }
      expect(await control.list("/members?workspace=w", { as: "ADMIN@w" })).not.toBeEmpty();
    });

    test("the person acts in one workspace, which the request must name", async () => {
      expect(await control.refusal("GET", "/keys", { as: "admin@w" })).toBe("400 invalid_field workspace");
      const seen = await control.list("/workspaces?workspace=w", { as: "member@w" });
      expect(seen.map(({ name }) => name)).toEqual(["w"]);
      expect(await control.refusal("GET", "/workspaces/v", { as: "member@w" })).toBe("403 forbidden X-Act-As");
    });

    test("no role can create workspaces, add credit or verify the ledger", async () => {
      const as = "super_admin@w";
      expect(await control.refusal("POST", "/workspaces", { body: { name: "own" }, as })).toBe("403 forbidden X-Act-As");
      const credit = { workspace: "w", usd: "1", ref: "self-made" };
      expect(await control.refusal("POST", "/credit", { body: credit, as })).toBe("403 forbidden null");
      expect(await control.refusal("GET", "/ledger/verify", { as })).toBe("403 forbidden X-Act-As");
    });

    test("auditors, admins and super admins can read the audit log, members cannot", async () => {
      for (const as of ["auditor@w", "admin@w", "super_admin@w"]) {
        const rows = await control.list("/audit?workspace=w", { as });
        expect(new Set(rows.map(({ workspace_id }) => workspace_id)).size).toBe(1);
      }
      expect(await control.refusal("GET", "/audit?workspace=w", { as: "member@w" })).toBe("403 forbidden null");
    });
  });
});
