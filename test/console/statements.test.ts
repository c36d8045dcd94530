/** The pages of statements: who sees what of them, and where they are off. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";
import { Closer } from "../support/statements/closer.ts";
import { LedgerHistory } from "../support/statements/ledger-history.ts";

const path = "/console/w/acme/statements";

describe.each(oneDatabase)("the pages of statements on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  const browsers: Record<"member" | "auditor", Browser> = Object.create(null);

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    const { control, sql } = world;
    const workspace = await control.workspace("acme");
    for (const role of ["member", "auditor"] as const) browsers[role] = await world.signIn(`${role}@acme`);
    const mine = (await control.key("acme", { name: "<i>mine</i>" })).id;
    const theirs = (await control.key("acme", { name: "theirs", owner: "admin@acme" })).id;
    const history = new LedgerHistory(sql, workspace);
    const charged = (key: string) => settlement({ workspace, key, admittedAt: Date.UTC(2026, 9, 5) });
    await history.enter("2026-10-02T00:00:00Z", { kind: "credit", nano: 1_000_000_000n, reference: "<b>invoice</b>" });
    await history.book("2026-10-05T00:00:01Z", charged(mine), charged(theirs));
    await history.enter("2026-10-06T00:00:00Z", { kind: "dispute", nano: -1_000_000n, reference: "case 7" });
    await new Closer(sql).closeAt("2026-11-20T12:00:00Z");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const get = (sub: string, browser: Browser) => world.get(`${path}${sub}`, browser);

  test("where the switch is off, the page says so", async () => {
    const { status, text } = await get("/2026-10", browsers.auditor);
    expect(status).toBe(200);
    expect(text).toContain("--early-access usage_statements");
    expect(text).not.toContain("theirs");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { early_access: ["usage_statements"] } });
  });

  test("auditors see balances, credits, refunds and all lines, with names as text", async () => {
    const list = await get("", browsers.auditor);
    expect(list.text).toContain(`href="${path}/2026-10">October 2026</a>`);
    expect(list.text).toContain('value="0.998600000"');
    const { text } = await get("/2026-10", browsers.auditor);
    for (const shown of [
      "$1.000000000",
      "$0.001000000",
      "$0.000400000",
      "$0.998600000",
      "case 7",
      "1 Oct 2026 to 31 Oct 2026 (UTC)",
      "theirs",
    ])
      expect(text).toContain(shown);
    expect(text).toContain("&#60;i&#62;mine&#60;/i&#62;");
    expect(text).not.toMatch(/<i>mine|<b>invoice/);
  });
});
