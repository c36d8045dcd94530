/** Tools keys are a kind of their own. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operatorToken } from "../../support/control.ts";
import { databases } from "../../support/servers/databases.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-stage.ts";

describe.each(databases)("tools keys on $name", ({ open }) => {
  let stage: ToolsStage;
  beforeAll(async () => {
    stage = await toolsStage(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const statusOf = async (authorization: string | null) => {
    const headers = authorization === null ? {} : { authorization };
    return (await stage.api.call("get_active_scope", {}, { key: null, headers })).status;
  };

  test("begin with the service's name and mcp, so that they are not taken for keys of the inference API", async () => {
    expect(await stage.key()).toMatch(/^platform-mcp-[0-9a-f]{64}$/);
    expect((await stage.control.key("w")).key).toMatch(/^platform-api-[0-9a-f]{64}$/);
  });

  test("are taken bare, after Bearer and after ApiKey, however that is written", async () => {
    const key = await stage.key();
    for (const header of [key, `Bearer ${key}`, `bearer ${key}`, `ApiKey ${key}`, `APIKEY  ${key}`])
      expect(await statusOf(header)).toBe(200);
    for (const header of [
      `Basic ${key}`,
      `Bearer ${key} x`,
      `Bearer ${key}\u00a0`,
      `\u00a0${key}`,
      `Bearer ${key.toUpperCase()}`,
      key.slice(0, -1),
    ])
      expect(await statusOf(header)).toBe(401);
  });

  test("that are missing, malformed, unknown, of another kind, revoked, or whose owner cannot use them get one and the same 401", async () => {
    const { key: inference } = await stage.control.key("w");
    const { id, key: revoked } = await stage.control.key("w", { kind: "tools" });
    await stage.control.expect("POST", `/keys/${id}/revoke`);
    const suspended = await stage.key("admin@w");
    await stage.control.expect("POST", "/accounts/admin@w/suspend");
    const unknown = `platform-mcp-${"0".repeat(64)}`;
    for (const key of [null, "", "x", unknown, inference, operatorToken, revoked, suspended]) {
      const { status, body } = await stage.api.call("get_active_scope", {}, { key });
      expect([key, status, body]).toEqual([key, 401, { success: false, error: "Unauthorized" }]);
    }
  });

  test("come before the body: a wrong key with a wrong body is 401", async () => {
    expect((await stage.api.call("get_active_scope", "{", { key: "x" })).status).toBe(401);
  });

  test("end at once when they are revoked", async () => {
    const { id, key } = await stage.control.key("w", { kind: "tools" });
    expect(await statusOf(key)).toBe(200);
    await stage.control.expect("POST", `/keys/${id}/revoke`);
    expect(await statusOf(key)).toBe(401);
  });

  test("work where the inference API is switched off, and can be made there", async () => {
    await stage.control.workspace("off");
    await stage.control.expect("PATCH", "/workspaces/off", { body: { enabled: false } });
    const { key } = await stage.control.key("off", { kind: "tools" });
    expect(await statusOf(key)).toBe(200);
  });

  test("tell when they were used last", async () => {
    const { id, key } = await stage.control.key("w", { kind: "tools" });
    const lastUsed = async () => (await stage.control.expect("GET", `/keys/${id}`))["last_used_at"];
    expect(await lastUsed()).toBeNull();
    await statusOf(key);
    const first = new Date(stage.control.clock.now()).toISOString();
    expect(await lastUsed()).toBe(first);
    stage.control.clock.advance(59_000);
    await statusOf(key);
    expect(await lastUsed()).toBe(first);
    stage.control.clock.advance(1_000);
    await statusOf(key);
    expect(await lastUsed()).toBe(new Date(stage.control.clock.now()).toISOString());
  });
});
