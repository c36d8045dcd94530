import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { endpoints } from "../../src/control-api/endpoints.ts";
import { Verification } from "../../src/gateway/metering/verify.ts";
import { invariants } from "../../src/gateway/metering/verify-store.ts";
import { Value } from "@sinclair/typebox/value";
import { Control, operatorToken } from "../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../support/servers/databases.ts";

let database: TestDatabase;
let control: Control;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  control = new Control(database.sql);
  await control.workspace("w", "1");
}, 60_000);
afterAll(() => database[Symbol.asyncDispose]());

const unauthorized = { error: { code: "unauthorized", field: null, message: "Send the operator token as a Bearer token" } };

describe("the operator token", () => {
  test.each([
    ...endpoints.map(({ method, path }) => [method, path] as const),
    ["GET", "/nowhere"] as const,
    ["DELETE", "/keys"] as const,
  ])("the operator token is required for %s %s, and nothing else is accepted", async (method, path) => {
    const { key } = await control.key("w");
    for (const token of [
      null,
      "",
      "wrong",
      key,
      `platform-mcp-${"0".repeat(64)}x`,
      `${operatorToken}x`,
      operatorToken.slice(1),
      operatorToken.toUpperCase(),
    ]) {
      expect(await control.call(method, path, { token })).toMatchObject({ status: 401, body: unauthorized });
    }
  });

  test("the operator token is a Bearer token, whose scheme may have any case", async () => {
    for (const [scheme, status] of [
      ["bearer", 200],
      ["BEARER", 200],
      ["Basic", 401],
      ["", 401],
    ] as const) {
      const headers = { authorization: `${scheme} ${operatorToken}`.trim() };
      expect(await control.call("GET", "/workspaces", { token: null, headers })).toMatchObject({ status });
    }
  });

  test("the operator token with anything behind it is refused, even a no-break space", async () => {
    for (const behind of [" x", "\u00a0", "0"]) {
      const headers = { authorization: `Bearer ${operatorToken}${behind}` };
      expect(await control.call("GET", "/workspaces", { token: null, headers })).toMatchObject({ status: 401 });
    }
  });

  test("the token is checked before the body, which is not read without it", async () => {
    expect(await control.call("POST", "/workspaces", { token: null, body: "not JSON" })).toMatchObject({ status: 401 });
  });
});

describe("an unknown path or method", () => {
  test.each(["", "/", "/nowhere", "/keys/one/two", "/workspace"])("the path %p is answered with 404", async (path) => {
    expect(await control.refusal("GET", path)).toBe("404 not_found null");
  });

  test("an unknown method is answered with 405 and the known methods", async () => {
    for (const [method, path, allow] of [
      ["DELETE", "/keys", "POST, GET"],
      ["PUT", "/keys/some", "GET, PATCH"],
      ["GET", "/keys/some/revoke", "POST"],
    ] as const) {
      const { status, headers } = await control.call(method, path);
      expect([status, headers.get("allow")]).toEqual([405, allow]);
    }
  });
});

describe("a body", () => {
  test.each([
    ["{", 400],
    ["[]", 400],
    ["null", 400],
    ['"text"', 400],
    ["\u00ff{", 400],
    ["[".repeat(1_000_000), 400],
  ])("a body that is no JSON object is refused with a clear message", async (body, status) => {
    const answer = await control.call("POST", "/workspaces", { body });
    expect(answer).toMatchObject({
      status,
      body: { error: { code: "invalid_body", field: null, message: expect.stringMatching(/^The body /) } },
    });
  });

  test("a body of more than 1 MiB is refused, one of 1 MiB is read", async () => {
    const padded = (bytes: number) => `{"name":"${"x".repeat(bytes - 11)}"}`;
    expect(await control.refusal("POST", "/workspaces", { body: padded(1024 * 1024 + 1) })).toBe("413 body_too_large null");
    expect(await control.refusal("POST", "/workspaces", { body: padded(1024 * 1024) })).toBe("400 invalid_field name");
  });

  test("a compressed body is refused", async () => {
    const sent = { body: { name: "x" }, headers: { "content-encoding": "gzip" } };
    expect(await control.refusal("POST", "/workspaces", sent)).toBe("400 invalid_body null");
  });

  test("a body may be absent if no field is required", async () => {
    const { id } = await control.key("w");
    expect(await control.call("POST", `/keys/${id}/revoke`)).toMatchObject({ status: 200 });
  });
});

describe("a field", () => {
  test.each([
    ["POST", "/keys", { workspace: "w", nmae: "x" }, 'There is no field "nmae": the nearest known field is "name"'],
    [
      "POST",
      "/keys",
      { workspace: "w", monthly_limit_usd: "1" },
      'There is no field "monthly_limit_usd": the nearest known field is "monthly_spend_limit_usd"',
    ],
    ["PATCH", "/workspaces/w", { enable: true }, 'There is no field "enable": the nearest known field is "enabled"'],
    [
      "POST",
      "/credit",
      { workspace: "w" },
      'The field "usd" is missing: an amount of USD as a string, such as "12.50", is needed',
    ],
    [
      "POST",
      "/members",
      { workspace: "w", email: "a@b" },
      'The field "role" is missing: one of member, auditor, admin and super_admin is needed',
    ],
    [
      "POST",
      "/members",
      { workspace: "w", email: "a@b", role: "boss" },
      'Cannot take the value of "role": one of member, auditor, admin and super_admin is needed',
    ],
  ])("the error for %s %s %p names the field", async (method, path, body, message) => {
    expect(await control.call(method, path, { body })).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_field", message } },
    });
  });

  test("a field of a query is refused like one of a body, also if the endpoint has none", async () => {
    expect(await control.refusal("GET", "/keys?wokspace=w")).toBe("400 invalid_field wokspace");
    const { body } = await control.call("GET", "/workspaces/w?name=w");
    expect(body).toMatchObject({ error: { message: 'There is no field "name": this request takes no fields' } });
  });

  test("__proto__ is an unknown field like any other", async () => {
    expect(await control.refusal("POST", "/workspaces", { body: '{"name":"p","__proto__":{"credit_usd":"1"}}' })).toBe(
      "400 invalid_field __proto__",
    );
  });
});

describe("an answer", () => {
  test("no cache may store an answer, because it may hold a key", async () => {
    const { headers } = await control.call("POST", "/keys", { body: { workspace: "w", owner: "member@w" } });
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("an answer has the fields of its endpoint's view, and no other", async () => {
    await control.expect("PATCH", "/workspaces/w", { body: { early_access: ["usage_statements"] } });
    for (const { method, path, view, fields } of endpoints) {
      // There is no catalog here, and no project; test/wire/description asks for the providers and for VEX.
      if (method !== "GET" || path.includes(":") || path === "/providers" || path === "/vex") continue;
      const ofWorkspace = fields.required?.includes("workspace");
      const asked = { measure: "&measure=spend", by: "&by=package", name: "&name=log4j" };
      const further = Object.entries(asked).flatMap(([name, text]) => (fields.required?.includes(name) ? [text] : []));
      const body = await control.expect("GET", `${path}${ofWorkspace ? `?workspace=w${further.join("")}` : ""}`);
      expect([path, [...Value.Errors({ ...view, additionalProperties: false }, body)]]).toEqual([path, []]);
    }
  });

  test("an answer to an unexpected failure does not show the cause, and the log does", async () => {
    const broken = new Control(database.sql);
    await database.sql`ALTER TABLE workspaces RENAME TO hidden`;
    const answer = await broken.call("GET", "/workspaces");
    await database.sql`ALTER TABLE hidden RENAME TO workspaces`;
    expect(answer.body).toEqual({ error: { code: "internal_error", field: null, message: "An unexpected error occurred" } });
    expect(broken.logged.join("")).toContain("control.failed");
  });
});

describe("the verification of the ledger", () => {
  test("the verification answers with its result", async () => {
    const result = await control.expect("GET", "/ledger/verify");
    expect(Value.Check(Verification, result)).toBe(true);
    expect(result).toMatchObject({ ok: true, broken: null });
  });

  test("the verification streams each invariant as soon as it is checked, if the client asks for it", async () => {
    const { body } = await control.call("GET", "/ledger/verify", { headers: { accept: "application/x-ndjson" } });
    const lines = String(body)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.slice(0, -1).map(({ checked }) => checked.invariant)).toEqual(Object.keys(invariants));
    expect(lines.at(-1)).toMatchObject({ result: { ok: true, checked: lines.slice(0, -1).map(({ checked }) => checked) } });
  });
});
