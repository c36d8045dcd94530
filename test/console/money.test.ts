/** The totals of Home, Spend and Requests are those of the ledger, whichever days they are cut into. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Settlement } from "../../src/gateway/journal/settlement.ts";
import { formatUsd, parseUsd } from "../../src/kernel/money.ts";
import { rollUpUsage } from "../../src/gateway/usage/roll-up.ts";
import { ManualClock } from "../support/clock.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { aModel } from "../support/providers/models.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

const zones = ["UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"];

describe.each(oneDatabase)("money on the pages on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let admin: Browser;
  let workspace: string;
  const keys: string[] = [];
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    workspace = await world.control.workspace("acme", "10");
    keys.push(
      (await world.control.key("acme", { name: "job" })).id,
      (await world.control.key("acme", { name: "job", owner: "admin@acme" })).id,
    );
    admin = await world.signIn("admin@acme");
    const { parts } = world.control;
    parts.models = { ...parts.models, list: () => [aModel({ id: "sandbox/echo" })] };
    await world.control.expect("PATCH", "/workspaces/acme", { body: { early_access: ["models_page"] } });
    await book(database.sql, ...charges());
    await rollUpUsage({ sql: database.sql, clock: new ManualClock(Date.parse("2026-11-01T04:30Z")) }, { rowsMax: 7 });
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** At midnights of the zones, where a month ends, and where daylight saving changes; each costs another amount. */
  function charges(): Settlement[] {
    const borders = [
      "2026-10-03T15:30Z",
      "2026-10-31T13:00Z",
      "2026-10-31T18:15Z",
      "2026-11-01T00:00Z",
      "2026-11-01T04:00Z",
      "2026-11-02T05:00Z",
    ];
    const times = borders.flatMap((text) => [-1, 0, 1].map((ms) => Date.parse(text) + ms));
    return times.map((admittedAt, index) => {
      const usage = {
        promptTokens: 2 ** (index % 9),
        cachedTokens: 0,
        cacheWriteTokens: 0,
        completionTokens: index,
        reasoningTokens: 0,
      };
      const failure = index % 5 === 4 ? { status: 502, code: "upstream_error", model: "acme/other" } : {};
      return settlement({ workspace, key: keys[index % 2] ?? "", admittedAt, usage, ...failure });
    });
  }

  /** The rows of a file by the names of its columns. None of its cells has a comma. */
  async function file(path: string, browser: Browser): Promise<Record<string, string>[]> {
    const { status, text, headers } = await world.get(`/console/w/acme${path}`, browser);
    expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    const [names = [], ...rows] = text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? ""])));
  }

  const sumOf = (rows: Record<string, string>[]): bigint =>
    rows.reduce((sum, { cost_usd: cost = "" }) => sum + parseUsd(cost), 0n);
  const ledger = async (): Promise<bigint> => {
    const [row] = await database.sql<{ charged: bigint }[]>`
      SELECT -sum(amount_nano)::bigint AS charged FROM ledger_entries WHERE workspace_id = ${workspace} AND kind = 'charge'`;
    return row?.charged ?? 0n;
  };

  test.each(zones)("days and months of %s are the same sums in Spend and in Requests, and add up to the ledger", async (zone) => {
    const total = await ledger();
    const log = await file("/requests?as=csv", admin);
    expect([log.length, sumOf(log)]).toEqual([18, total]);
    let spent = 0n;
    for (const month of ["2026-10", "2026-11"]) {
      const rows = await file(`/spend?month=${month}&tz=${zone}&as=csv`, admin);
      spent += sumOf(rows);
      const days = new Map(rows.map((row) => [row[`day (${zone})`] ?? "", 0n]));
      for (const day of days.keys()) {
        const expected = sumOf(
          log.filter(({ at = "" }) => new Date(at).toLocaleString("sv-SE", { timeZone: zone }).startsWith(day)),
        );
        expect(sumOf(rows.filter((row) => row[`day (${zone})`] === day))).toBe(expected);
        expect(sumOf(await file(`/requests?from=${day}&to=${day}&tz=${zone}&as=csv`, admin))).toBe(expected);
      }
      const { text } = await world.get(`/console/w/acme/spend?month=${month}&tz=${zone}`, admin);
      expect(text).toContain(`<dd class="value"><data class="money" value="${formatUsd(sumOf(rows))}"`);
      expect(text).toContain(`Day (${zone})`);
    }
    expect(spent).toBe(total);
  });

  test.each(["key", "member", "model", "provider"])("the sums by %s add up to the month", async (by) => {
    const rows = await file(`/spend?month=2026-11&by=${by}&as=csv`, admin);
    const { text } = await world.get(`/console/w/acme/spend?month=2026-11&by=${by}`, admin);
    const sum = formatUsd(sumOf(rows));
    expect(text.match(new RegExp(`value="${sum}"`, "g"))?.length).toBeGreaterThanOrEqual(2);
    expect(sumOf(rows)).toBe(sumOf(await file("/requests?from=2026-11-01&as=csv", admin)));
  });

  test("Home, Spend, the month's total and the requests of the month are one amount", async () => {
    const { month_spent_usd: spent } = await world.control.expect("GET", "/workspaces/acme");
    for (const path of ["", "/spend"])
      expect((await world.get(`/console/w/acme${path}`, admin)).text).toContain(`value="${String(spent)}"`);
    expect(formatUsd(sumOf(await file("/requests?from=2026-11-01&as=csv", admin)))).toBe(String(spent));
  });

  test("keys of one name are told apart, and each leads to its requests", async () => {
    const { text } = await world.get("/console/w/acme/spend?month=2026-11&tz=Asia/Kathmandu", admin);
    for (const key of keys) {
      expect(text).toContain(`job (…${key.slice(-4)})`);
      expect(text).toContain(`/console/w/acme/requests?key=${key}&#38;from=2026-11-01&#38;to=2026-11-30&#38;tz=Asia%2FKathmandu`);
    }
  });

  /** The values of a column of the page's chart, by period, and its sum, as the table shows them. */
  function chartOf(text: string, column: string): { values: bigint[]; sum: bigint } {
    const figure = text.slice(text.indexOf('<figure class="chart"'), text.indexOf("</figure>"));
    const cells = [...figure.matchAll(new RegExp(`data-label="${column}"><data class="money" value="([^"]*)"`, "g"))];
    const amounts = cells.map(([, amount = ""]) => parseUsd(amount));
    return { values: amounts.slice(0, -1), sum: amounts.at(-1) ?? 0n };
  }

  test.each([
    ["Home", ""],
    ["Spend", "/spend"],
    ["a key", "/keys/KEY"],
    ["a member", "/members/admin@acme"],
    ["a model", "/models/sandbox/echo"],
  ])("the chart of %s adds up to its total and to the log, to the nano-dollar, in each range and zone", async (name, path) => {
    const at = path.replace("KEY", keys[0] ?? "");
    const filter = { "a key": `key=${keys[0]}`, "a member": "member=admin@acme", "a model": "model=sandbox/echo" }[name] ?? "";
    const all = sumOf(await file(`/requests?${filter}&as=csv`, admin));
    expect(all > 0n).toBe(true);
    for (const zone of zones) {
      for (const query of [
        "from=2026-10-01&to=2026-11-30",
        "from=2026-10-01&to=2026-11-30&by=provider",
        "from=2026-01-01&to=2026-12-31",
      ]) {
        const { status, text } = await world.get(`/console/w/acme${at}?${query}&tz=${zone}`, admin);
        const { values, sum } = chartOf(text, "Total");
        expect([status, sum, values.reduce((one, other) => one + other, 0n)]).toEqual([200, all, all]);
      }
      const { text } = await world.get(`/console/w/acme${at}?range=month&month=2026-11&view=total&tz=${zone}`, admin);
      const month = sumOf(await file(`/requests?${filter}&from=2026-11-01&to=2026-11-30&tz=${zone}&as=csv`, admin));
      const { values, sum } = chartOf(text, "Spend so far");
      expect([sum, values[0]]).toEqual([month, month]);
    }
  });

  test("each day of a chart leads to its requests, and the hours to those up to their end", async () => {
    const { text } = await world.get("/console/w/acme/spend?measure=errors&from=2026-11-01&to=2026-11-02", admin);
    expect(text).toContain("/requests?status=error&#38;from=2026-11-01&#38;to=2026-11-01&#38;before=gen-");
    expect(text).toContain("upstream_error");
    const days = (await world.get(`/console/w/acme/keys/${keys[0]}?month=2026-11`, admin)).text;
    const link = days.match(/href="([^"]*)"[^>]*><title>1 Nov 2026/)?.[1]?.replaceAll("&#38;", "&") ?? "";
    const shown = await world.get(link, admin);
    expect(shown.text.match(/data-label="Status"/g)).toHaveLength(
      (await file(`/requests?key=${keys[0]}&from=2026-11-01&to=2026-11-01&as=csv`, admin)).length,
    );
  });

  test("a range that cannot be read is said, and the usual one is shown", async () => {
    for (const query of ["from=2026-13-01", "from=2026-11-02&to=2026-11-01", "from=2020-01-01", "from=x&range=custom"]) {
      const { status, text } = await world.get(`/console/w/acme/spend?${query}`, admin);
      expect([query, status, text.includes("Those days cannot be shown")]).toEqual([query, 200, true]);
      expect(text).toContain("Spend in November 2026 by day and key");
    }
    const cleared = await world.get("/console/w/acme/spend?range=custom&measure=mood", admin);
    expect([cleared.status, cleared.text.includes("Those days cannot")]).toEqual([200, false]);
  });

  test("every measure, range and group is a link that works, and members see no times of all for a model", async () => {
    const start = "/console/w/acme/models/sandbox/echo";
    for (const email of ["admin@acme", "member@acme"]) {
      const browser = email === "admin@acme" ? admin : await world.signIn(email);
      const { text } = await world.get(start, browser);
      expect(text.includes("measure=first_token")).toBe(email === "admin@acme");
      const links = [...text.matchAll(/href="([^"]*\/models\/[^"]*)#usage"/g)].map(([, path = ""]) =>
        path.replaceAll("&#38;", "&"),
      );
      expect(links.length).toBeGreaterThan(8);
      for (const link of new Set(links)) expect([link, (await world.get(link, browser)).status]).toEqual([link, 200]);
    }
  });

  test("a chosen time zone is kept in a cookie and holds where the address names none, and none that does not exist is kept", async () => {
    const choose = (to: string) =>
      world.post("/console/time-zone", { to }, admin, {
        referer: "http://localhost/console/w/acme/spend?by=model&tz=UTC&before=x",
      });
    const chosen = await choose("Asia/Kathmandu");
    expect([chosen.status, chosen.headers.get("location")]).toEqual([303, "/console/w/acme/spend?by=model"]);
    const [zone = ""] = chosen.headers.getSetCookie().flatMap((cookie) => /^[\w-]*weir-zone=[^;]*/.exec(cookie) ?? []);
    const get = async (path: string) =>
      (await world.get(`/console/w/acme${path}`, admin, { cookie: `weir=${admin.token}; ${zone}` })).text;
    for (const path of ["/spend", "/requests"]) expect(await get(path)).toContain("Days begin at 00:00 in Asia/Kathmandu.");
    expect(await get("/spend?tz=Europe/Berlin")).toContain("Days begin at 00:00 in Europe/Berlin.");
    expect((await world.get("/console/account", admin)).text).toContain('<option value="UTC" selected>');
    const refused = await choose("Mars/<b>");
    expect([refused.status, refused.text.includes("There is no such time zone"), refused.text.includes("<b>")]).toEqual([
      400,
      true,
      false,
    ]);
    expect((await world.post("/console/time-zone", { to: "UTC" }, undefined)).status).toBe(401);
  });

  test("a month without spend, an unknown zone and an unknown month are said in words", async () => {
    expect((await world.get("/console/w/acme/spend?month=2026-08", admin)).text).toContain("Nothing was spent in August 2026");
    const unknown = await world.get("/console/w/acme/spend?tz=Mars/%3Cb%3E", admin);
    expect([unknown.status, unknown.text.includes("There is no time zone “Mars/&#60;b&#62;”")]).toEqual([200, true]);
    expect((await world.get("/console/w/acme/spend?month=2026-13&by=colour", admin)).text).toContain(
      "Spend in November 2026 by day and key",
    );
  });
});
