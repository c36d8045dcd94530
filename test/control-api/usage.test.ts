import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { UsageView } from "../../src/gateway/usage/schema.ts";
import { printUsage } from "../../scripts/weir/verbs/usage.ts";
import { selectCallerId } from "../../src/accounts/members/store.ts";
import { Control } from "../support/control.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("GET /usage on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let mine: string;
  let theirs: string;
  const noon = Date.UTC(2026, 10, 20, 12);

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    const workspace = await control.workspace("w", "1");
    mine = (await control.key("w", { name: "mine" })).id;
    theirs = (await control.key("w", { owner: "admin@w", name: "theirs" })).id;
    const inWorkbench = (await selectCallerId({ workspace, email: "member@w" }, database.sql)) ?? "";
    const keys = [mine, mine, mine, theirs, theirs, theirs, inWorkbench];
    const dayBefore = settlement({ workspace, key: mine, admittedAt: noon - 86_400_000, status: 502, code: "upstream_error" });
    await book(database.sql, dayBefore, ...keys.map((key) => settlement({ workspace, key, admittedAt: noon - 1 })));
    await control.workspace("other", "1");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const usage = async (query: string, as?: string) => {
    const body = await control.expect("GET", `/usage?workspace=w${query}`, as === undefined ? {} : { as });
    if (!Value.Check(UsageView, body)) throw new Error(`Not as described: ${JSON.stringify(body)}`);
    return body;
  };
  const requests = async (query: string, as?: string) =>
    (await usage(query, as)).data.map((row) => [row.key_name ?? row.member ?? row.period, row.requests]);

  test("members see their own requests alone, overseers all", async () => {
    const all = [
      ["mine", 4],
      ["theirs", 3],
      ["Workbench", 1],
    ];
    for (const as of ["auditor@w", "admin@w", "super_admin@w", undefined]) expect(await requests("&by=key", as)).toEqual(all);
    expect(await requests("&by=key", "member@w")).toEqual([all[0], all[2]] as typeof all);
    expect(await requests("&by=member", "member@w")).toEqual([["member@w", 5]]);
    expect(await requests("&by=key&member=admin@w", "member@w")).toEqual([]);
    expect(await control.refusal("GET", `/usage?workspace=w&key=${theirs}`, { as: "member@w" })).toBe("404 not_found id");
    expect(await control.refusal("GET", `/usage?workspace=other&key=${mine}`)).toBe("404 not_found id");
    expect(await control.refusal("GET", "/usage?workspace=w", { as: "member@other" })).toBe("403 forbidden X-Act-As");
  });

  test("filters leave out other keys, members and models", async () => {
    expect(await requests(`&by=member&key=${theirs}`)).toEqual([["admin@w", 3]]);
    expect(await requests("&by=key&member=member@w")).toEqual([
      ["mine", 4],
      ["Workbench", 1],
    ]);
    expect(await requests(`&by=key&key=${mine}&member=admin@w`)).toEqual([]);
    expect(await requests("&by=key&model=another")).toEqual([]);
  });

  test("one row has the sums of the last 30 days, and errors among them", async () => {
    const { data, total, rest } = await usage("");
    expect(data).toEqual([total]);
    expect(rest).toBeNull();
    expect(total).toEqual({
      requests: 8,
      errors: 1,
      prompt_tokens: 800,
      cached_tokens: 0,
      cache_write_tokens: 0,
      completion_tokens: 400,
      cost_usd: "0.001600000",
      list_cost_usd: "0.000000000",
    });
    expect(await requests("&by=day&tz=Pacific/Auckland")).toEqual([
      ["2026-11-20", 1],
      ["2026-11-21", 7],
    ]);
  });

  test.each([
    ["tz=Berlin", "tz"],
    ["by=week", "by"],
    ["by=day,month", "by"],
    ["from=yesterday", "from"],
    ["from=2026-13-01", "from"],
    ["to=2026-11-20T12:07Z", "to"],
    ["from=2026-11-21", "from"],
    ["from=2020-01-01", "from"],
    ["from=2026-10-01&by=hour", "from"],
    // Its offset was less than a quarter of an hour from Greenwich.
    ["from=1971-01-01&to=1971-02-01&tz=Africa/Monrovia", "to"],
    ["from=1970-12-15T00:00Z&to=1971-02-01T00:00Z&by=month&tz=Africa/Monrovia", "tz"],
    ["limit=10001", "limit"],
  ])("%s is refused with the name of the field", async (query, field) => {
    expect(await control.refusal("GET", `/usage?workspace=w&${query}`)).toBe(`400 invalid_field ${field}`);
  });

  test("the command line shows rows with bars, the rest and the total", async () => {
    const body = await control.expect("GET", "/usage?workspace=w&by=key&limit=2");
    const table = printUsage(body)
      .split("\n")
      .map((line) => line.replaceAll(/ +/g, " "));
    expect(table[0]).toBe("KEY_NAME KEY_ID REQUESTS ERRORS PROMPT_TOKENS COMPLETION_TOKENS COST_USD");
    expect(table.slice(1)).toEqual([
      `mine ${mine} 4 1 400 200 0.000800000 ${"█".repeat(20)}`,
      `theirs ${theirs} 3 0 300 150 0.000600000 ${"█".repeat(15)}`,
      "(1 more) 1 0 100 50 0.000200000",
      "(total) 8 1 800 400 0.001600000",
    ]);
  });
});
