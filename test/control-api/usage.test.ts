import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { ChartView, UsageView } from "../../src/gateway/usage/schema.ts";
import { formatUsd, parseUsd } from "../../src/kernel/money.ts";
import { printChart, printUsage } from "../../scripts/weir/verbs/usage.ts";
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

  test("filters leave out other keys, members, models and providers", async () => {
    expect(await requests(`&by=member&key=${theirs}`)).toEqual([["admin@w", 3]]);
    expect(await requests("&by=key&member=member@w")).toEqual([
      ["mine", 4],
      ["Workbench", 1],
    ]);
    expect(await requests(`&by=key&key=${mine}&member=admin@w`)).toEqual([]);
    expect(await requests("&by=key&model=another")).toEqual([]);
    expect(await requests("&by=key&provider=another")).toEqual([]);
    expect(await requests("&by=key&provider=sandbox")).toEqual(await requests("&by=key"));
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

  const chart = async (query: string, as?: string) => {
    const body = await control.expect("GET", `/usage/chart?workspace=w&${query}`, as === undefined ? {} : { as });
    if (!Value.Check(ChartView, body)) throw new Error(`Not as described: ${JSON.stringify(body)}`);
    return body;
  };
  const november = "from=2026-11-01&to=2026-12-01";

  test("a chart's names, others and sums agree with usage to the nano-dollar, for each measure and name", async () => {
    const { total } = await usage(`&${november}`);
    for (const [measure, all] of [
      ["spend", total.cost_usd],
      ["requests", total.requests],
      ["errors", total.errors],
      ["tokens", total.prompt_tokens + total.completion_tokens],
    ] as const) {
      const nano = (value: unknown): bigint => (measure === "spend" ? parseUsd(String(value)) : BigInt(Number(value)));
      const sum = (values: readonly unknown[]): bigint => values.reduce<bigint>((one, other) => one + nano(other), 0n);
      for (const by of ["", "&by=key", "&by=member", "&by=model", "&by=key&series=1"]) {
        const { periods, data, others, sums, ...view } = await chart(`measure=${measure}&${november}${by}`);
        expect([sums.total, view.total.cost_usd, periods.length]).toEqual([all, total.cost_usd, 30]);
        const drawn = [...data.map(({ values }) => values ?? []), others?.values ?? []].filter(({ length }) => length > 0);
        expect(sums.values.map(nano)).toEqual(periods.map((_, index) => sum(drawn.map((values) => values[index]))));
        expect([sum(sums.values), sum(data.map(({ total: one }) => one))]).toEqual([nano(all), nano(all)]);
      }
    }
    const { data, others } = await chart(`measure=requests&${november}&by=key&series=1`);
    expect(data.map(({ name, values, total: one, sums }) => [name, values !== null, one, sums?.cost_usd])).toEqual([
      ["mine", true, 4, "0.000800000"],
      ["theirs", false, 3, "0.000600000"],
      ["Workbench", false, 1, "0.000200000"],
    ]);
    expect(others).toMatchObject({ count: 2, total: 4 });
  });

  test("a chart has the month before a month, and as many days or hours before others", async () => {
    const month = await chart(`measure=spend&${november}&before=true`);
    expect([month.before?.from, month.before?.to, month.before?.values.length]).toEqual([
      "2026-10-01T00:00:00.000Z",
      "2026-11-01T00:00:00.000Z",
      31,
    ]);
    const day = await chart("measure=requests&from=2026-11-20&to=2026-11-21&step=day&before=true");
    expect([day.sums.values, day.before?.values, day.before?.total]).toEqual([[7], [1], 1]);
    const hours = await chart("measure=requests&from=2026-11-20T12:00Z&to=2026-11-20T18:00Z&before=true");
    expect([hours.step, hours.sums.total, hours.before?.total]).toEqual(["hour", 0, 7]);
    expect((await chart(`measure=spend&${november}`)).before).toBeNull();
  });

  test("the forecast is the month so far and the pace since the first request for the rest of it", async () => {
    const { forecast, total } = await chart(`measure=spend&${november}`);
    // The first request was on the day before, whose midnight is more than a day ago.
    const now = control.clock.now();
    const end = (Math.floor(now / 900_000) + 1) * 900_000;
    const since = Date.UTC(2026, 10, 19);
    const spent = parseUsd(total.cost_usd);
    expect(forecast).toEqual({
      since: new Date(since).toISOString(),
      usd_a_day: formatUsd((spent * 86_400_000n) / BigInt(end - since)),
      total_usd: formatUsd(spent + (spent * BigInt(Date.UTC(2026, 11, 1) - end)) / BigInt(end - since)),
    });
    expect((await chart("measure=spend&from=2026-11-01&to=2026-11-21")).forecast).toBeNull();
    expect((await chart("measure=spend&from=2026-10-01&to=2026-11-01")).forecast).toBeNull();
    expect((await chart(`measure=requests&${november}`)).forecast).toBeNull();
  });

  test("a chart has errors by code, and the times of first tokens within five percent", async () => {
    const errors = await chart(`measure=errors&by=code&${november}`);
    expect(errors.data).toMatchObject([{ id: "upstream_error", total: 1 }]);
    expect([errors.sums.total, errors.others]).toEqual([1, null]);
    const times = await chart(`measure=first_token&${november}&key=${mine}`);
    expect(times.data.map(({ id, total }) => [id, total])).toEqual([
      ["p50", 12],
      ["p95", 12],
    ]);
    expect([times.sums.total, times.sums.values[19], times.data[0]?.values?.[0]]).toEqual([4, 3, null]);
  });

  test("members chart their own requests alone, and no other workspace's", async () => {
    expect((await chart(`measure=requests&${november}&by=key`, "member@w")).data.map(({ name }) => name)).toEqual([
      "mine",
      "Workbench",
    ]);
    expect((await chart(`measure=errors&by=code&${november}`, "member@w")).sums.total).toBe(1);
    expect((await chart(`measure=errors&by=code&${november}&member=admin@w`)).sums.total).toBe(0);
    for (const as of ["auditor@w", "admin@w", "super_admin@w"])
      expect((await chart(`measure=requests&${november}`, as)).sums.total).toBe(8);
    const refused = (query: string, as: string) => control.refusal("GET", `/usage/chart?measure=spend&${query}`, { as });
    expect(await refused(`workspace=w&key=${theirs}`, "member@w")).toBe("404 not_found id");
    expect(await refused("workspace=w", "member@other")).toBe("403 forbidden X-Act-As");
  });

  test.each([
    ["", "measure"],
    ["measure=mood", "measure"],
    ["measure=spend&by=code", "by"],
    ["measure=first_token&by=model", "by"],
    ["measure=errors&by=code&model=a&member=member@w", "model"],
    ["measure=first_token&provider=a&member=member@w", "provider"],
    ["measure=spend&step=hour&from=2026-10-01", "from"],
    ["measure=spend&from=2020-01-01", "from"],
  ])("a chart of %s is refused with the name of the field", async (query, field) => {
    expect(await control.refusal("GET", `/usage/chart?workspace=w&${query}`)).toBe(`400 invalid_field ${field}`);
  });

  test("the command line shows a chart by period, with all names and the time before", async () => {
    const table = printChart(await chart("measure=requests&from=2026-11-19&to=2026-11-21&step=day&by=key&before=true"))
      .split("\n")
      .map((line) => line.trim().split(/ +/));
    expect(table).toEqual([
      ["PERIOD", "mine", "theirs", "Workbench", "total", "before"],
      ["2026-11-19", "1", "0", "0", "1", "0"],
      ["2026-11-20", "3", "3", "1", "7", "0"],
      ["(total)", "4", "3", "1", "8", "0"],
    ]);
  });
});
