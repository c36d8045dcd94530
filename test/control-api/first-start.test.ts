import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { firstStart } from "../../src/control-api/first-start.ts";
import { hashKey } from "../../src/kernel/ids.ts";
import { findKeyRecords } from "../../src/accounts/keys/find.ts";
import { earlyAccessFeatures, findWorkspace } from "../../src/accounts/workspaces/workspaces.ts";
import { Control } from "../support/control.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("a first start on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  test("only one of several concurrent starts creates the workspace `default` with 10 USD, its owner and a key of each kind", async () => {
    const sources = { sql: control.parts.sql, clock: control.clock, slug: "platform" };
    const starts = await Promise.all(Array.from({ length: 4 }, () => firstStart(sources)));
    const [first, ...others] = starts.filter((start) => start !== null);
    expect(others).toEqual([]);
    const key = first?.key ?? "";
    expect(key).toMatch(/^platform-api-[0-9a-f]{64}$/);
    expect(await control.list("/workspaces")).toEqual([
      expect.objectContaining({ id: first?.workspace, name: "default", enabled: true, balance_usd: "10.000000000" }),
    ]);
    expect(await control.list("/members?workspace=default")).toMatchObject([
      { email: "owner@localhost", role: "super_admin", state: "active" },
    ]);
    expect(first?.toolsKey).toMatch(/^platform-mcp-[0-9a-f]{64}$/);
    const keys = await control.list("/keys");
    expect(keys.toSorted((a, b) => String(a["kind"]).localeCompare(String(b["kind"])))).toEqual([
      expect.objectContaining({ name: "first key", kind: "inference", owner: "owner@localhost", rate_limit_rpm: null }),
      expect.objectContaining({ name: "first tools key", kind: "tools", owner: "owner@localhost" }),
    ]);
    const records = await findKeyRecords([hashKey(key)], database.sql);
    expect(records.get(hashKey(key))).toMatchObject({ enabled: true, requestsPerMinute: null, monthlyLimit: null });
  });

  test("the audit log names the first start as the credential", async () => {
    const rows = (await control.list("/audit")).map(({ event, actor, role, carried_by }) => ({ event, actor, role, carried_by }));
    const service = { actor: "weir", role: "service", carried_by: null };
    const key = { event: "auth.api.key.created", actor: "owner@localhost", role: "super_admin", carried_by: "first start" };
    expect(rows.toReversed()).toEqual([
      { event: "workspace.created", ...service },
      { event: "credit.added", ...service },
      { event: "workspace.member.added", ...service },
      key,
      key,
    ]);
  });

  test("in one process, the workspace has every feature of early access", async () => {
    await using empty = await open();
    const { sql, clock } = new Control(empty.sql).parts;
    await firstStart({ sql, clock, slug: "platform", earlyAccess: earlyAccessFeatures });
    expect(await findWorkspace("default", { sql, clock })).toMatchObject({ earlyAccess: [...earlyAccessFeatures] });
  });

  test("a start with any existing workspace is no first start", async () => {
    expect(await firstStart({ sql: control.parts.sql, clock: control.clock, slug: "platform" })).toBeNull();
  });
});
