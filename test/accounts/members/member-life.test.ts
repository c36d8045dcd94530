import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findKeyRecords } from "../../../src/accounts/keys/find.ts";
import { hashKey } from "../../../src/kernel/ids.ts";
import { Control } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("the life of a member on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const usable = async (key: string) => (await findKeyRecords([hashKey(key)], database.sql)).has(hashKey(key));
  const act = (member: string, verb: "deactivate" | "reactivate") =>
    control.expect("POST", `/members/${encodeURIComponent(member)}/${verb}`, { body: { workspace: member.split("@")[1] } });
  const recorded = async (workspace: string, event: string) =>
    (await control.list(`/audit?workspace=${workspace}&event=${event}`)).map(({ actor, role, target, changes }) => ({
      actor,
      role,
      target,
      changes,
    }));

  describe("another role", () => {
    test("a new role holds at once, and is recorded with the previous one", async () => {
      await control.workspace("promoted");
      const set = { body: { workspace: "promoted", role: "admin" } };
      expect(await control.expect("PATCH", "/members/MEMBER@promoted", set)).toEqual({
        email: "member@promoted",
        role: "admin",
        state: "active",
        monthly_spend_limit_usd: null,
      });
      await control.expect("PATCH", "/workspaces/promoted", { body: { fallbacks: false }, as: "member@promoted" });
      await control.expect("PATCH", "/members/member@promoted", set);
      expect(await recorded("promoted", "workspace.member.updated")).toEqual([
        { actor: "operator", role: "operator", target: "member@promoted", changes: { role: { from: "member", to: "admin" } } },
      ]);
    });

    test("admins change the roles of others, and only super admins those of a super admin", async () => {
      await control.workspace("given");
      const body = { workspace: "given", role: "super_admin" };
      const set = (email: string, as: string) => control.refusal("PATCH", `/members/${email}`, { body, as });
      expect(await set("member@given", "auditor@given")).toBe("403 forbidden null");
      expect(await set("member@given", "member@given")).toBe("403 forbidden null");
      expect(await set("admin@given", "admin@given")).toBe("403 forbidden email");
      expect(await set("member@given", "admin@given")).toBe("403 forbidden email");
      expect(
        await control.refusal("PATCH", "/members/super_admin@given", { body: { ...body, role: "member" }, as: "admin@given" }),
      ).toBe("403 forbidden email");
      expect(await control.refusal("PATCH", "/members/nobody@given", { body })).toBe("404 not_found email");
      expect(await control.refusal("PATCH", "/members/admin@given", { body: { ...body, role: "boss" } })).toBe(
        "400 invalid_field role",
      );
      expect(await recorded("given", "workspace.member.updated")).toEqual([]);
    });
  });

  describe("deactivating", () => {
    test("deactivating revokes the member's keys in this workspace, and no others", async () => {
      await control.workspace("ended");
      await control.workspace("elsewhere");
      await control.expect("POST", "/members", { body: { workspace: "elsewhere", email: "member@ended", role: "member" } });
      const keys = [await control.key("ended")];
      control.clock.advance(1);
      keys.push(await control.key("ended", { kind: "tools" }));
      const others = [
        await control.key("ended", { owner: "admin@ended" }),
        await control.key("elsewhere", { owner: "member@ended" }),
      ];
      control.clock.advance(60_000);
      const changes = control.notified.count("records-changed");
      expect(await act("member@ended", "deactivate")).toEqual({
        email: "member@ended",
        role: "member",
        state: "deactivated",
        monthly_spend_limit_usd: null,
      });
      expect(control.notified.count("records-changed")).toBe(changes + 1);
      const revoked = await control.list("/keys?workspace=ended&revoked=true");
      expect(revoked.map(({ id, revoked_at }) => [id, revoked_at])).toEqual(
        keys.map(({ id }) => [id, new Date(control.clock.now()).toISOString()]),
      );
      for (const { key } of others) expect(await usable(key)).toBe(true);
    });

    test("deactivating is recorded once, with every revoked key", async () => {
      await control.workspace("noted");
      const { id: before } = await control.key("noted");
      await control.expect("POST", `/keys/${before}/revoke`);
      control.clock.advance(1);
      const keys = [await control.key("noted")];
      control.clock.advance(1);
      keys.push(await control.key("noted"));
      await act("member@noted", "deactivate");
      await act("member@noted", "deactivate");
      expect(await recorded("noted", "workspace.member.deactivated")).toEqual([
        { actor: "operator", role: "operator", target: "member@noted", changes: {} },
      ]);
      const revocations = await recorded("noted", "auth.api.key.revoked");
      expect(revocations.map(({ target }) => target).toReversed()).toEqual([before, ...keys.map(({ id }) => id)]);
      expect(revocations[0]?.changes).toEqual({ revoked_at: { from: null, to: new Date(control.clock.now()).toISOString() } });
    });

    test("a failed deactivation changes neither the member nor the keys", async () => {
      await control.workspace("together");
      const { key } = await control.key("together");
      await database.sql`ALTER TABLE audit_events ADD CONSTRAINT refused CHECK (event <> 'auth.api.key.revoked') NOT VALID`;
      const { status } = await control.call("POST", "/members/member@together/deactivate", { body: { workspace: "together" } });
      await database.sql`ALTER TABLE audit_events DROP CONSTRAINT refused`;
      expect(status).toBe(500);
      expect(await control.list("/keys?workspace=together")).toHaveLength(1);
      expect(await usable(key)).toBe(true);
    });

    test("deactivating a member while a key is created leaves no usable key", async () => {
      await control.workspace("race");
      for (let round = 0; round < 10; round++) {
        const [created] = await Promise.all([
          control.call("POST", "/keys", { body: { workspace: "race", owner: "member@race" } }),
          act("member@race", "deactivate"),
        ]);
        if (created.status === 201) expect(await control.list("/keys?workspace=race")).toEqual([]);
        else expect(created.status).toBe(403);
        await act("member@race", "reactivate");
      }
    });

    test("a deactivated member can neither act nor get keys", async () => {
      await control.workspace("kept-out");
      await act("admin@kept-out", "deactivate");
      expect(await control.refusal("GET", "/members?workspace=kept-out", { as: "admin@kept-out" })).toBe(
        "403 forbidden X-Act-As",
      );
      expect(await control.refusal("POST", "/keys", { body: { workspace: "kept-out", owner: "admin@kept-out" } })).toBe(
        "403 forbidden owner",
      );
    });
  });

  test("reactivating restores no keys, and allows the member to create new ones", async () => {
    await control.workspace("back");
    const { key } = await control.key("back");
    await act("member@back", "deactivate");
    expect(await act("member@back", "reactivate")).toMatchObject({ state: "active" });
    await act("member@back", "reactivate");
    expect(await usable(key)).toBe(false);
    expect(await usable((await control.key("back")).key)).toBe(true);
    expect(await recorded("back", "workspace.member.reactivated")).toHaveLength(1);
  });

  test("of two super admins who demote each other one stays", async () => {
    await control.workspace("duel");
    const other = "other@duel";
    await control.expect("POST", "/members", { body: { workspace: "duel", email: other, role: "super_admin" } });
    const body = { workspace: "duel", role: "member" };
    const demote = (email: string, as: string) => control.call("PATCH", `/members/${email}`, { body, as });
    await Promise.all([demote(other, "super_admin@duel"), demote("super_admin@duel", other)]);
    const roles = (await control.list("/members?workspace=duel")).map(({ role }) => role);
    expect(roles.filter((role) => role === "super_admin")).toHaveLength(1);
  });

  test.each(["deactivate", "reactivate"])("only admins can %s another person, who must be a member", async (verb) => {
    await control.workspace(`left-${verb}`);
    const body = { workspace: `left-${verb}` };
    const as = `member@left-${verb}`;
    expect(await control.refusal("POST", `/members/auditor@left-${verb}/${verb}`, { body, as })).toBe("403 forbidden null");
    const own = { body, as: `admin@left-${verb}` };
    expect(await control.refusal("POST", `/members/admin@left-${verb}/${verb}`, own)).toBe("403 forbidden email");
    expect(await control.refusal("POST", `/members/nobody@left/${verb}`, { body })).toBe("404 not_found email");
  });
});
