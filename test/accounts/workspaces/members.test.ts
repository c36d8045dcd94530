import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(databases)("a member on $name", ({ open }) => {
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
    });
    await control.expect("POST", "/members", { body: { workspace: "v", email: "Ada@Example.com", role: "admin" } });
    expect(await database.sql`SELECT 1 FROM accounts WHERE email ILIKE 'ada@example.com'`).toHaveLength(1);
    const listed = (await control.list("/members?workspace=v")).find(({ email }) => email === "ada@example.com");
    expect(listed).toEqual({ email: "ada@example.com", role: "admin", state: "active" });
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
