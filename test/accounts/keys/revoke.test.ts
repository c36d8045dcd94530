import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";

describe.each(oneDatabase)("revoking a key on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await control.workspace("w", "10");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  test("a revoked key is listed only among the revoked ones, with revoke time and month spend", async () => {
    const [kept, revoked] = [await control.key("w", { name: "kept" }), await control.key("w", { name: "revoked" })];
    const { id: workspace } = await control.expect("GET", "/workspaces/w");
    await book(database.sql, settlement({ workspace: String(workspace), key: revoked.id }));
    control.clock.advance(60_000);
    await control.expect("POST", `/keys/${revoked.id}/revoke`, { as: "member@w" });
    const active = await control.list("/keys?workspace=w");
    expect(active.map(({ id }) => id)).toContain(kept.id);
    expect(active.map(({ id }) => id)).not.toContain(revoked.id);
    expect(await control.list("/keys?workspace=w&revoked=true")).toEqual([
      expect.objectContaining({ id: revoked.id, revoked_at: "2026-11-20T12:01:00.000Z", month_spent_usd: "0.000200000" }),
    ]);
  });

  test("revoking is irreversible: a revoked key cannot be edited or revoked again, and one audit row is written", async () => {
    const { id } = await control.key("w");
    const first = await control.expect("POST", `/keys/${id}/revoke`);
    control.clock.advance(1_000);
    expect(await control.expect("POST", `/keys/${id}/revoke`)).toEqual(first);
    expect(await control.refusal("PATCH", `/keys/${id}`, { body: { name: "alive" } })).toBe("409 conflict id");
    const recorded = (await control.list("/audit?event=auth.api.key.revoked")).filter(({ target }) => target === id);
    expect(recorded).toHaveLength(1);
  });

  test("only the owner and the managers of the workspace can revoke a key", async () => {
    const { id } = await control.key("w");
    expect(await control.refusal("POST", `/keys/${id}/revoke`, { as: "auditor@w" })).toBe("403 forbidden null");
    expect(await control.expect("POST", `/keys/${id}/revoke`, { as: "admin@w" })).toHaveProperty("revoked_at");
  });
});
