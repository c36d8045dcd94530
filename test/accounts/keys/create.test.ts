import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { hashKey } from "../../../src/kernel/ids.ts";
import { NewKeyView } from "../../../src/accounts/keys/schema.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("creating a key on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await control.workspace("w");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const create = (form: Record<string, unknown>) =>
    control.expect("POST", "/keys", { body: { workspace: "w", owner: "member@w", ...form } });
  const refused = (form: Record<string, unknown>) =>
    control.refusal("POST", "/keys", { body: { workspace: "w", owner: "member@w", ...form } });

  test("the answer shows the full key once: prefix and 64 lowercase hexadecimal characters", async () => {
    const made = await create({ name: "first" });
    expect(made["key"]).toMatch(/^platform-api-[0-9a-f]{64}$/);
    const shown = await control.expect("GET", `/keys/${String(made["id"])}`);
    const { key: _key, ...rest } = made;
    expect(shown).toEqual(rest);
  });

  test("the database stores only a SHA-256 hash, the start (prefix plus eight characters) and the last four characters", async () => {
    const { id, key } = await control.key("w");
    const [row] = await database.sql`SELECT * FROM api_keys WHERE id = ${id}`;
    expect(Buffer.from(row?.["hash"]).toString("hex")).toBe(hashKey(key));
    expect(row?.["start"]).toBe(key.slice(0, 21));
    expect(row?.["last_four"]).toBe(key.slice(-4));
    const everything = await database.sql`
      SELECT row_to_json(k)::text AS text FROM api_keys k UNION ALL SELECT row_to_json(a)::text FROM audit_events a`;
    expect(everything.some(({ text }) => String(text).includes(key.slice(21, -4)))).toBe(false);
  });

  test("the answer has the documented fields, and masks the key as start, ellipsis and last four", async () => {
    const made = await create({ name: "fields", monthly_spend_limit_usd: "12.5", rate_limit_rpm: 10_000 });
    expect(Value.Check(NewKeyView, made)).toBe(true);
    const key = String(made["key"]);
    expect(made).toMatchObject({
      kind: "inference",
      name: "fields",
      prefix: key.slice(0, 21),
      masked: `${key.slice(0, 21)}…${key.slice(-4)}`,
      owner: "member@w",
      monthly_spend_limit_usd: "12.500000000",
      rate_limit_rpm: 10_000,
      month_spent_usd: "0.000000000",
      created_at: "2026-11-20T12:00:00.000Z",
      last_used_at: null,
      revoked_at: null,
    });
  });

  test.each([undefined, "", "   "])("a key with the name %p is called `Untitled key`", async (name) => {
    expect(await create({ name })).toMatchObject({ name: "Untitled key", monthly_spend_limit_usd: null, rate_limit_rpm: null });
  });

  test.each(["0.01", "1", "9000000", "0.10"])("the monthly spend limit %s is accepted", async (limit) => {
    expect(await create({ monthly_spend_limit_usd: limit })).toHaveProperty("id");
  });

  test.each(["0", "0.00", "-1", "0.001", "1.234", "", "abc", "1e3", "9000000.01", 5])(
    "the monthly spend limit %p is refused: it must be above zero with up to two decimals",
    async (limit) => {
      expect(await refused({ monthly_spend_limit_usd: limit })).toBe("400 invalid_field monthly_spend_limit_usd");
    },
  );

  test.each([1, 60, 10_000])("%p requests per minute are accepted", async (rpm) => {
    expect(await create({ rate_limit_rpm: rpm })).toMatchObject({ rate_limit_rpm: rpm });
  });

  test.each([0, -1, 10_001, 1.5, "60"])(
    "%p requests per minute are refused: a whole number from 1 to 10,000 is needed",
    async (rpm) => {
      expect(await refused({ rate_limit_rpm: rpm })).toBe("400 invalid_field rate_limit_rpm");
    },
  );

  test("a name with control characters or of more than 200 characters is refused", async () => {
    expect(await refused({ name: "two\nlines" })).toBe("400 invalid_field name");
    expect(await refused({ name: "x".repeat(201) })).toBe("400 invalid_field name");
  });

  test("every member except an auditor can create keys, only for themselves", async () => {
    for (const role of ["member", "admin", "super_admin"]) {
      const made = await control.expect("POST", "/keys", { body: { workspace: "w" }, as: `${role}@w` });
      expect(made["owner"]).toBe(`${role}@w`);
    }
    expect(await control.refusal("POST", "/keys", { body: { workspace: "w" }, as: "auditor@w" })).toBe("403 forbidden null");
    expect(await refused({ owner: "auditor@w" })).toBe("403 forbidden null");
    const forAnother = { body: { workspace: "w", owner: "member@w" }, as: "admin@w" };
    expect(await control.refusal("POST", "/keys", forAnother)).toBe("403 forbidden owner");
  });

  test("the owner must be an active member with an active account", async () => {
    expect(await control.refusal("POST", "/keys", { body: { workspace: "w" } })).toBe("400 invalid_field owner");
    expect(await refused({ owner: "nobody@w" })).toBe("403 forbidden owner");
    await control.expect("POST", "/members", { body: { workspace: "w", email: "locked@w", role: "member" } });
    await database.sql`UPDATE accounts SET state = 'locked' WHERE email = 'locked@w'`;
    expect(await refused({ owner: "locked@w" })).toBe("403 forbidden owner");
  });

  test("the owner is found by any spelling of the address", async () => {
    expect(await create({ owner: "Member@W" })).toMatchObject({ owner: "member@w" });
  });

  test("creation is refused to everyone while the workspace is switched off", async () => {
    await control.workspace("off");
    await control.expect("PATCH", "/workspaces/off", { body: { enabled: false } });
    const form = { body: { workspace: "off" }, as: "super_admin@off" };
    expect(await control.refusal("POST", "/keys", form)).toBe("403 workspace_disabled workspace");
    await control.expect("PATCH", "/workspaces/off", { body: { enabled: true } });
    expect(await control.expect("POST", "/keys", form)).toHaveProperty("key");
  });

  test("the audit log records the owner, the role and the credential", async () => {
    const { id } = await create({ name: "audited", rate_limit_rpm: 9 });
    const [row] = await control.list("/audit?workspace=w&event=auth.api.key.created&limit=1");
    expect(row).toMatchObject({
      actor: "member@w",
      role: "member",
      carried_by: "operator token",
      target: id,
      changes: { name: { from: null, to: "audited" }, rate_limit_rpm: { from: null, to: 9 } },
    });
  });
});
