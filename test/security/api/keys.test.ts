/** Tools keys differ from keys of the inference API. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { operatorToken } from "../../support/control.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { toolsStage, type ToolsStage } from "../../support/security/tools-api.ts";

describe.each(oneDatabase)("tools keys on $name", ({ open }) => {
  let stage: ToolsStage;
  beforeAll(async () => {
    stage = await toolsStage(open);
  }, 60_000);
  afterAll(() => stage[Symbol.asyncDispose]());

  const statusOf = async (authorization: string | null) => {
    const headers = authorization === null ? {} : { authorization };
    return (await stage.api.call("get_active_scope", {}, { key: null, headers })).status;
  };

  test("tools keys begin with the service's name and mcp, which distinguishes them from keys of the inference API", async () => {
    expect(await stage.key()).toMatch(/^platform-mcp-[0-9a-f]{64}$/);
    expect((await stage.control.key("w")).key).toMatch(/^platform-api-[0-9a-f]{64}$/);
  });

  test("tools keys are accepted bare, after Bearer and after ApiKey, in any case", async () => {
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

  test("missing, malformed, unknown, other, revoked and unusable keys get the same 401", async () => {
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

  test("the key is checked before the body: a wrong key with a wrong body is answered with 401", async () => {
    expect((await stage.api.call("get_active_scope", "{", { key: "x" })).status).toBe(401);
  });

  test("a revoked tools key stops working at once", async () => {
    const { id, key } = await stage.control.key("w", { kind: "tools" });
    expect(await statusOf(key)).toBe(200);
    await stage.control.expect("POST", `/keys/${id}/revoke`);
    expect(await statusOf(key)).toBe(401);
  });

  test("tools keys work and can be created while the inference API is switched off", async () => {
    await stage.control.workspace("off");
    await stage.control.expect("PATCH", "/workspaces/off", { body: { enabled: false } });
    const { key } = await stage.control.key("off", { kind: "tools" });
    expect(await statusOf(key)).toBe(200);
  });

  test("a tools key shows its last use", async () => {
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
