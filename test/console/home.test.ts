/** Home: what a new workspace sees, and what needs attention in one that is used. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld } from "../support/console.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("Home on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const home = async (workspace: string, email: string | null) =>
    (await world.get(`/console/w/${workspace}`, await world.signIn(email))).text;

  test("a new workspace shows the first steps that the role may do, done by what exists, until a person hides them", async () => {
    await world.control.workspace("new", "10");
    const steps = async (email: string) => {
      const text = await home("new", email);
      return [...text.matchAll(/<li class="(done|open)">.*?<(?:a href="([^"]*)"|b)>([^<]+)</g)].map(
        ([, state, path = "", label]) => [state, label, path.replace("/console/w/new", "")].join(" ").trim(),
      );
    };
    const ofMember = [
      "open Send a first request /workbench",
      "open Create a key for your program /keys/new",
      "open Limit what a key may spend /keys",
      "open Upload an SBOM /projects/new",
    ];
    expect(await steps("member@new")).toEqual(ofMember);
    const admins = await steps("admin@new");
    expect(admins.filter((step) => !ofMember.includes(step))).toEqual([
      "open Set an alert /alerts/new",
      "done Invite a colleague",
      "open Connect a vendor /connections/new",
    ]);
    expect(await home("new", "member@new")).toContain("nothing spent this month");
    await world.control.key("new", { monthly_spend_limit_usd: "5" });
    await world.control.expect("POST", "/alert-rules", { body: { workspace: "new", kind: "workspace_month" } });
    expect((await steps("admin@new")).filter((step) => step.startsWith("done"))).toEqual([
      "done Create a key for your program",
      "done Limit what a key may spend",
      "done Set an alert",
      "done Invite a colleague",
    ]);
    const member = await world.signIn("member@new");
    expect((await world.post("/console/w/new", { action: "hide-steps" }, member)).status).toBe(303);
    expect([await steps("member@new"), (await steps("admin@new")).length]).toEqual([[], 7]);
    expect(await home("new", "member@new")).toContain("one that you have");
    const search = (await world.get("/console/w/new/find?q=first+steps", member)).text;
    const [, again = ""] = /href="([^"]+)">(?:<bdi>)?Show the first steps/.exec(search) ?? [];
    expect((await world.get(again, member)).text).toContain("Upload an SBOM");
    const waiting = await home("new", "auditor@new");
    expect([waiting.includes("No requests yet"), waiting.includes("First steps")]).toEqual([true, false]);
  });

  test("a workspace without projects may load the sample data, and remove it again, without a script", async () => {
    await world.control.workspace("first", "10");
    const member = await world.signIn("member@first");
    const path = "/console/w/first";
    const offers = (text: string) =>
      ["Load sample data", "Sample data is loaded", "Remove it"].filter((words) => text.includes(words));
    expect(offers(await home("first", "auditor@first"))).toEqual([]);
    expect(offers(await home("first", "member@first"))).toEqual(["Load sample data"]);
    expect((await world.post(path, { action: "load-sample" }, member)).status).toBe(303);
    const loaded = await home("first", "member@first");
    expect(offers(loaded)).toEqual(["Sample data is loaded", "Remove it"]);
    expect(loaded).toContain(`href="${path}?open=remove-sample"`);
    expect(offers(await home("first", "auditor@first"))).toEqual([]);
    expect((await world.get(`${path}?open=remove-sample`, member)).text).toMatch(/<dialog id="remove-sample"[^>]* open/);
    expect((await world.get(`${path}/projects`, member)).text.match(/<span class="badge neutral">sample</g)).toHaveLength(3);
    const [project] = await world.control.list("/projects?workspace=first");
    const ofProject = await world.get(`${path}/projects/${String(project?.["id"])}`, member);
    expect([ofProject.text.includes(">sample<"), ofProject.text.includes("Upload an SBOM")]).toEqual([true, false]);
    await world.post(path, { action: "hide-steps" }, member);
    expect(offers(await home("first", "member@first"))).toEqual(["Sample data is loaded", "Remove it"]);
    expect((await world.post(path, { action: "remove-sample" }, member)).status).toBe(303);
    expect(offers(await home("first", "member@first"))).toEqual([]);
    expect(offers(await home("first", "admin@first"))).toEqual(["Load sample data"]);
  });

  test("a used workspace shows its pace, its failures, the times of the last day and the keys near their limit", async () => {
    const workspace = await world.control.workspace("used", "10");
    const near = (await world.control.key("used", { name: "near", monthly_spend_limit_usd: "0.20" })).id;
    const far = (await world.control.key("used", { name: "far <b>", monthly_spend_limit_usd: "5", owner: "admin@used" })).id;
    // 0.02 USD each, at noon of the twentieth day: 0.2 of ten, and so 9.8 for 955 days.
    const now = world.control.clock.now();
    const usage = { promptTokens: 20_000, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
    const settled = Array.from({ length: 10 }, (_, index) =>
      settlement({
        workspace,
        key: index < 8 ? near : far,
        usage,
        reserved: "100000000",
        admittedAt: now - 1_000 - index,
        firstTokenMs: 100 * (index + 1),
        ...(index === 9 && { status: 502, code: "upstream_error" }),
      }),
    );
    await book(
      database.sql,
      ...settled,
      settlement({
        workspace,
        key: far,
        usage: { ...usage, promptTokens: 0 },
        admittedAt: now - 2 * 86_400_000,
        firstTokenMs: 60_000,
      }),
    );
    const admin = await home("used", "admin@used");
    for (const words of [
      "lasts 955 days at this month",
      "1 failed</a> (9.1 %)",
      "10 answered</a>",
      "500 ms · 1.0 s",
      "of 10 answers in the last 24 hours",
      "Keys near their limit",
    ])
      expect(admin).toContain(words);
    expect(admin).toContain(`/console/w/used/keys/${near}"`);
    expect(admin).not.toContain(`/console/w/used/keys/${far}"`);
    const member = await home("used", "member@used");
    expect(member).toContain("Your spend in November 2026");
    expect(member).toContain('value="0.160000000"');
    expect(member).not.toContain("far &#60;b&#62;");
  });

  test("the month is compared with the same span of the month before, drawn by day, and marked if much failed", async () => {
    const workspace = await world.control.workspace("compared", "10");
    const key = (await world.control.key("compared", { name: "all" })).id;
    // Noon of the twentieth day.
    const now = world.control.clock.now();
    const spend = async (usd: number, admittedAt: number, ending: { status?: number; code?: string } = {}) => {
      const usage = {
        promptTokens: usd * 1_000_000,
        cachedTokens: 0,
        cacheWriteTokens: 0,
        completionTokens: 0,
        reasoningTokens: 0,
      };
      const row = settlement({ workspace, key, usage, reserved: "5000000000", admittedAt, ...ending });
      await book(database.sql, row);
    };
    await spend(0.05, now - 1_000);
    expect(await home("compared", "admin@compared")).not.toContain("by this time");
    await spend(0.1, Date.UTC(2026, 9, 20, 11, 59));
    // After the same time of October, and before October.
    for (const later of [Date.UTC(2026, 9, 20, 13), Date.UTC(2026, 9, 31), Date.UTC(2026, 8, 30, 23)]) await spend(1, later);
    const first = await home("compared", "admin@compared");
    expect(first).toContain("50 % less than in October by this time");
    expect(first).toContain('aria-label="Answered and failed requests by day: 0 on the first, 1 at most, 1 today"');
    await spend(0.07, now - 86_400_000);
    expect(await home("compared", "admin@compared")).toContain("20 % more than in October by this time");
    await spend(1.5, now - 86_400_000);
    expect(await home("compared", "admin@compared")).toContain("16 times as much as in October by this time");
    const failed = { status: 502, code: "upstream_error" };
    await spend(0, now - 2_000, failed);
    expect(await home("compared", "admin@compared")).toContain("1 failed</a> (25 %)");
    for (let number = 0; number < 16; number++) await spend(0, now - 3_000 - number);
    expect(await home("compared", "admin@compared")).toContain('1 failed</a> <span class="badge bad">5 %</span>');
    await spend(0, now - 4_000);
    expect(await home("compared", "admin@compared")).toContain("1 failed</a> (4.8 %)");
  });

  test("a workspace that is switched off or without credit says so", async () => {
    await world.control.workspace("off");
    await world.control.expect("PATCH", "/workspaces/off", { body: { enabled: false } });
    const text = await home("off", null);
    for (const words of ["switched off for this workspace", "requests are refused until credit is added"])
      expect(text).toContain(words);
  });
});
