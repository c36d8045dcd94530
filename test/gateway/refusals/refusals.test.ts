/** Who reads which refused calls, by which filters, and how they are counted. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { RefusalCounts, RefusedView } from "../../../src/gateway/refusals/schema.ts";
import { RefusedCalls, type RefusedCall } from "../../../src/gateway/refusals/refused-calls.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(databases)("reading refused calls on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspace: string;
  let mine: string;
  let theirs: string;

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    workspace = await control.workspace("w", "1");
    await control.workspace("other", "1");
    mine = (await control.key("w", { name: "mine" })).id;
    theirs = (await control.key("w", { owner: "admin@w" })).id;
    const [{ caller = "" } = {}] = await database.sql<{ caller: string }[]>`
      SELECT caller_id AS caller FROM members WHERE workspace_id = ${workspace} AND email = 'member@w'`;
    const calls = new RefusedCalls({ sql: database.sql, clock: control.clock, log: silentLog });
    const pass = async (ms: number): Promise<void> => {
      await calls.flushed(10_000);
      control.clock.advance(ms);
    };
    const note = (key: string, parts: Partial<RefusedCall> = {}): void =>
      calls.note({
        workspace,
        key,
        endpoint: "chat",
        code: "rate_limited",
        status: 429,
        model: "acme/one",
        message: "Too many requests",
        param: null,
        retryAfterMs: 1_500,
        ...parts,
      });
    note(mine);
    await pass(60_000);
    note(theirs, { code: "model_not_found", status: 404, model: null, endpoint: "messages", param: "model", retryAfterMs: null });
    await pass(86_400_000);
    note(caller);
    note(caller);
    note("", { workspace: null, key: null, code: "invalid_api_key", status: 401 });
    await pass(60_000);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const codes = async (path: string, as?: string) =>
    (await control.list(path, as === undefined ? {} : { as })).map(({ code, member }) => `${String(code)} ${String(member)}`);
  const counted = async (query: string, as?: string) => control.expect("GET", `/refusals/counts?${query}`, as ? { as } : {});

  test("a list has the newest calls first, in the fields of the contract", async () => {
    const rows = await control.list("/refusals?workspace=w");
    expect(rows.map(({ key_id: key }) => key)).toEqual([null, null, theirs, mine]);
    expect(rows.every((row) => Value.Check(RefusedView, row))).toBe(true);
    expect(rows[3]).toEqual({
      request_id: expect.stringMatching(/^req-[a-z2-7]{26}$/),
      workspace_id: workspace,
      at: "2026-11-20T12:00:00.000Z",
      key_id: mine,
      key_name: "mine",
      member: "member@w",
      endpoint: "chat",
      model: "acme/one",
      status: 429,
      code: "rate_limited",
      message: "Too many requests",
      param: null,
      retry_after_ms: 1_500,
    });
  });

  test("filters and pages select calls", async () => {
    const limited = "rate_limited member@w";
    expect(await codes("/refusals?workspace=w&code=model_not_found")).toEqual(["model_not_found admin@w"]);
    expect(await codes("/refusals?workspace=w&endpoint=messages")).toEqual(["model_not_found admin@w"]);
    expect(await codes("/refusals?workspace=w&model=acme/one&member=member@w")).toEqual([limited, limited, limited]);
    expect(await codes(`/refusals?workspace=w&key=${theirs}`)).toEqual(["model_not_found admin@w"]);
    expect(await codes("/refusals?workspace=w&to=2026-11-20T12:01:00Z")).toEqual([limited]);
    expect(await codes("/refusals?workspace=w&from=2026-11-21T00:00:00Z&limit=1")).toEqual([limited]);
    const [, second] = await control.list("/refusals?workspace=w&limit=2");
    expect(await codes(`/refusals?workspace=w&before=${String(second?.["request_id"])}`)).toHaveLength(2);
    expect(await control.refusal("GET", "/refusals?workspace=w&limit=201")).toBe("400 invalid_field limit");
    expect(await control.refusal("GET", "/refusals?workspace=w&from=2026-11-21T00:00:00Z&to=2026-11-20T00:00:00Z")).toBe(
      "400 invalid_field from",
    );
  });

  test("members see their own calls, overseers all of the workspace, and no one those of another", async () => {
    const own = ["rate_limited member@w", "rate_limited member@w", "rate_limited member@w"];
    expect(await codes("/refusals?workspace=w", "member@w")).toEqual(own);
    expect(await codes("/refusals?workspace=w&member=admin@w", "member@w")).toEqual([]);
    for (const role of ["auditor", "admin", "super_admin"])
      expect(await codes("/refusals?workspace=w", `${role}@w`)).toHaveLength(4);
    expect(await control.refusal("GET", `/refusals?workspace=w&key=${theirs}`, { as: "member@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/refusals?workspace=other&key=${mine}`)).toBe("404 not_found id");
    expect(await codes("/refusals?workspace=other", "member@other")).toEqual([]);
    expect(await control.refusal("GET", "/refusals?workspace=w", { as: "member@other" })).toBe("403 forbidden X-Act-As");
    expect(await counted("workspace=w", "member@w")).toMatchObject({ calls: 3, data: [{ code: "rate_limited", calls: 3 }] });
    expect(await counted("workspace=w", "auditor@w")).toMatchObject({ calls: 4 });
    expect(await control.refusal("GET", "/refusals/counts", { as: "admin@w" })).toBe("400 invalid_field workspace");
  });

  test("one call is shown to whom lists show it, and unknown to others", async () => {
    const [, , theirCall, myCall] = await control.list("/refusals?workspace=w");
    const [theirId, myId] = [String(theirCall?.["request_id"]), String(myCall?.["request_id"])];
    expect(await control.expect("GET", `/refusals/${myId}`, { as: "member@w" })).toEqual(myCall ?? {});
    expect(await control.expect("GET", `/refusals/${theirId}`, { as: "auditor@w" })).toEqual(theirCall ?? {});
    expect(await control.refusal("GET", `/refusals/${theirId}`, { as: "member@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/refusals/${myId}`, { as: "admin@other" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/refusals/${myId}?workspace=other`)).toBe("404 not_found id");
    expect(await control.refusal("GET", `/refusals/req-${"2".repeat(26)}`)).toBe("404 not_found id");
  });

  test("counts are summed by key and by minute, hour or day, over whole days and parts of them", async () => {
    const byDay = await counted("workspace=w&by=day,key");
    expect(Value.Check(RefusalCounts, byDay)).toBe(true);
    expect(byDay).toEqual({
      from: "2026-10-21T12:02:00.000Z",
      to: "2026-11-21T12:02:00.000Z",
      calls: 4,
      data: [
        {
          starts_at: "2026-11-20T00:00:00.000Z",
          key_id: theirs,
          key_name: "Untitled key",
          member: "admin@w",
          code: "model_not_found",
          calls: 1,
        },
        {
          starts_at: "2026-11-20T00:00:00.000Z",
          key_id: mine,
          key_name: "mine",
          member: "member@w",
          code: "rate_limited",
          calls: 1,
        },
        {
          starts_at: "2026-11-21T00:00:00.000Z",
          key_id: null,
          key_name: "Workbench",
          member: "member@w",
          code: "rate_limited",
          calls: 2,
        },
      ],
    });
    const minutes = await counted("workspace=w&by=minute&from=2026-11-20T12:00:00Z&to=2026-11-20T12:02:00Z");
    expect(minutes["data"]).toEqual([
      { starts_at: "2026-11-20T12:00:00.000Z", code: "rate_limited", calls: 1 },
      { starts_at: "2026-11-20T12:01:00.000Z", code: "model_not_found", calls: 1 },
    ]);
    // From the middle of a day over a whole one: rows of minutes and rows of days add up once.
    expect(await counted("workspace=w&from=2026-11-19T12:01:00Z")).toMatchObject({ calls: 4 });
    expect(await counted("workspace=w&from=2026-11-20T12:01:00Z&code=rate_limited")).toMatchObject({ calls: 2 });
    expect(await counted("workspace=w&by=hour&limit=1")).toMatchObject({ calls: 4, data: [{ calls: 1 }] });
    expect(await counted(`workspace=w&key=${mine}`)).toMatchObject({ calls: 1 });
    expect(await control.refusal("GET", "/refusals/counts?workspace=w&by=hour,day")).toBe("400 invalid_field by");
    expect(await control.refusal("GET", "/refusals/counts?workspace=w&by=week")).toBe("400 invalid_field by");
    expect(await control.refusal("GET", "/refusals/counts?workspace=w&by=minute")).toBe("400 invalid_field from");
  });

  test("the operator counts all workspaces, and calls without a known key", async () => {
    expect(await counted("by=key")).toMatchObject({ calls: 5 });
    expect(await counted("by=key&code=invalid_api_key")).toMatchObject({
      calls: 1,
      data: [{ key_id: null, key_name: null, member: null, code: "invalid_api_key", calls: 1 }],
    });
  });
});
