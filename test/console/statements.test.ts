/** The pages of statements: who sees what of them, and where they are off. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cents } from "../../src/console/look/documents.ts";
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

  test("the list is sorted by its charges, and shows when each month closed if that is chosen", async () => {
    const months = async (query: string) =>
      [...(await get(query, browsers.auditor)).text.matchAll(/href="[^"]*\/statements\/(\d{4}-\d{2})"/g)].map(
        ([, month]) => month,
      );
    const usual = await months("");
    expect(usual.length).toBeGreaterThan(1);
    expect((await months("?sort=-charges"))[0]).toBe("2026-10");
    expect(await months("?sort=month")).toEqual(usual.toReversed());
    expect((await get("?columns=month,closed", browsers.auditor)).text).toContain('data-label="Closed"');
  });

  test("a statement names seller, buyer and the tax that charges include; a closed one keeps what it said", async () => {
    const { control } = world;
    const admin = await world.signIn("admin@acme");
    const before = (await get("/2026-10", browsers.auditor)).text;
    expect(before).toContain("No tax is shown: the seller has stated no rate, and Weir computes none by itself.");
    const operator = await world.signIn(null);
    const seller = { name: "Weir <b>GmbH</b>", address: "Hauptstr. 1\r\n10115 Berlin", tax_number: "DE123", tax_name: "VAT" };
    const wrong = await world.post("/console/operator/seller", { action: "save", ...seller, tax_percent: "0" }, operator);
    expect([wrong.status, wrong.text.includes('id="billing-tax_percent-problem"')]).toEqual([400, true]);
    expect(
      (await world.post("/console/operator/seller", { action: "save", ...seller, tax_percent: "19" }, operator)).status,
    ).toBe(303);
    const buyer = { action: "save", name: "x".repeat(200), address: "", tax_number: "‮FR9" };
    expect((await world.post("/console/w/acme/billing", buyer, admin)).status).toBe(303);
    const tab = { ...buyer, "was.name": "", "was.address": "", "was.tax_number": "", tax_number: "" };
    expect((await world.post("/console/w/acme/billing", { ...tab, name: "" }, admin)).status).toBe(303);
    expect(await control.expect("GET", "/billing?workspace=acme")).toMatchObject({ name: "x".repeat(200), tax_number: "‮FR9" });
    const [audited] = await control.list("/audit?workspace=acme&limit=1");
    expect(audited).toMatchObject({ event: "workspace.billing.updated", actor: "admin@acme" });

    const { text } = await get("/2026-11", browsers.auditor);
    const [{ number = 0 } = {}] = await world.sql<{ number: number }[]>`SELECT number FROM workspaces WHERE name = 'acme'`;
    expect(text).toContain(`<code>2026-11-${String(number).padStart(4, "0")}</code>`);
    for (const shown of [
      "Weir &#60;b&#62;GmbH",
      "10115 Berlin",
      "Tax number <bdi>DE123",
      "VAT 19 %, included",
      "The seller states this rate.",
    ])
      expect(text).toContain(shown);
    expect((await get("/2026-10", browsers.auditor)).text).toBe(before);
    const member = (await get("/2026-11", browsers.member)).text;
    expect([member.includes("GmbH"), member.includes("VAT")]).toEqual([false, false]);
    for (const as of ["member@acme", "auditor@acme"])
      expect(await control.refusal("PATCH", "/billing", { as, body: { workspace: "acme", name: "x" } })).toBe(
        "403 forbidden null",
      );
    expect(await control.refusal("GET", "/seller", { as: "admin@acme" })).toStartWith("403");
  });

  test("cents are rounded half up, and tax is the included part, exactly", async () => {
    expect(["0.005000000", "0.004999999", "-1.235000000", "-0.001000000", "1234.500000000"].map(cents)).toEqual([
      "$0.01",
      "$0.00",
      "−$1.24",
      "$0.00",
      "$1,234.50",
    ]);
  });
});
