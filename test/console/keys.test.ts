/** The pages of keys: what each role may do there, and that a key is shown once. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the pages of keys on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let member: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "10");
    member = await world.signIn("member@acme");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const keys = "/console/w/acme/keys";
  const create = (fields: Record<string, string>, browser = member) =>
    world.post(keys, { action: "create", kind: "inference", ...fields }, browser);
  const fullKey = /platform-api-[0-9a-f]{64}/;

  test("a member creates a key, which this answer alone shows", async () => {
    const created = await create({ name: "job <b>one</b>", monthly_spend_limit_usd: "5", rate_limit_rpm: "" });
    expect([created.status, created.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(created.text).toMatch(fullKey);
    const listed = await world.get(keys, member);
    expect(listed.text).not.toMatch(fullKey);
    expect(listed.text).toContain("job &#60;b&#62;one&#60;/b&#62;");
    expect(listed.text).toContain('of <data class="money" value="5.000000000"');
  });

  test.each([
    ["monthly_spend_limit_usd", "0", "above zero"],
    ["monthly_spend_limit_usd", "1.001", "2 decimals"],
    ["rate_limit_rpm", "ten", "from 1 to 10000"],
    ["rate_limit_rpm", "10001", "from 1 to 10000"],
    ["name", "x".repeat(201), "one line of text"],
  ])("the field %s with %p is refused beside it, and what was typed stays", async (field, value, cause) => {
    const refused = await create({ name: "kept", [field]: value });
    expect([refused.status, refused.text.includes(cause)]).toEqual([400, true]);
    expect(refused.text).toContain(`id="new-key-${field}-problem"`);
    expect(refused.text).toContain(`value="${value}"`);
  });

  test("two people who edit one key both see what they saved, and only changed fields are audited", async () => {
    const { id } = await world.control.key("acme", { name: "shared" });
    const admin = await world.signIn("admin@acme");
    const edit = (fields: Record<string, string>, browser: Browser) =>
      world.post(
        `${keys}/${id}`,
        { action: "edit", kind: "inference", name: "shared", monthly_spend_limit_usd: "", rate_limit_rpm: "", ...fields },
        browser,
      );
    const [first, second] = await Promise.all([
      edit({ rate_limit_rpm: "5" }, member),
      edit({ rate_limit_rpm: "5", name: "ours" }, admin),
    ]);
    expect([first.status, second.status]).toEqual([303, 303]);
    const rows = await world.control.list("/audit?workspace=acme&event=auth.api.key.updated");
    for (const { changes } of rows) expect(Object.keys(Object(changes))).not.toContain("monthly_spend_limit_usd");
  });

  test("a form in a second tab saves only what was changed in it, and nothing if nothing was", async () => {
    const { id } = await world.control.key("acme", { name: "tabs" });
    const { text } = await world.get(`${keys}/${id}`, member);
    const shown = Object.fromEntries(
      [...text.matchAll(/name="(was\.\w+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]),
    );
    expect(shown).toMatchObject({ "was.name": "tabs", "was.rate_limit_rpm": "" });
    const edit = (fields: Record<string, string>) =>
      world.post(`${keys}/${id}`, { action: "edit", kind: "inference", name: "tabs", ...shown, ...fields }, member);
    await edit({ rate_limit_rpm: "5" });
    await edit({ name: "renamed", rate_limit_rpm: "" });
    expect(await world.control.expect("GET", `/keys/${id}`)).toMatchObject({ name: "renamed", rate_limit_rpm: 5 });
    const idle = await edit({});
    expect(decodeURIComponent(idle.headers.get("set-cookie") ?? "")).toContain("Nothing was changed.");
  });

  test("a key's dialog opens with its address, and again with what was refused", async () => {
    const { id } = await world.control.key("acme", { name: "opened" });
    const dialogOf = (text: string): string => /<dialog id="edit"[^>]*>/.exec(text)?.[0] ?? "";
    expect(dialogOf((await world.get(`${keys}/${id}`, member)).text)).not.toContain(" open");
    expect(dialogOf((await world.get(`${keys}/${id}?open=edit`, member)).text)).toContain(" open");
    const refused = await world.post(`${keys}/${id}`, { action: "edit", kind: "inference", rate_limit_rpm: "none" }, member);
    expect([refused.status, dialogOf(refused.text).includes(" open")]).toEqual([400, true]);
    expect(refused.text).toContain('id="edit-key-rate_limit_rpm-problem"');
  });

  test("a tools key shows how each client is set up with this service's address, and has no requests", async () => {
    const { id } = await world.control.key("acme", { name: "agent", kind: "tools" });
    const { text } = await world.get(`${keys}/${id}`, member);
    for (const words of ["https://weir.example.com/mcp", "claude mcp add", "Cursor", "Claude Desktop", "platform_list_projects"])
      expect(text).toContain(words);
    for (const words of ["Last requests", "Spent this month"]) expect(text).not.toContain(words);
  });

  test("names of 200 characters and from right to left are shown whole, as text of their own direction", async () => {
    for (const name of ["x".repeat(200), "مفتاح الإنتاج"]) {
      const { id } = await world.control.key("acme", { name });
      for (const path of [`${keys}?sort=-name`, `${keys}/${id}`]) {
        const { status, text } = await world.get(path, member);
        expect([status, text.includes(`>${name}</bdi>`)]).toEqual([200, true]);
      }
    }
  });

  test("a key with a daily limit shows what is spent of it today, in its form and in words", async () => {
    const { id } = await world.control.key("acme", { name: "daily" });
    expect((await world.get(`${keys}/${id}`, member)).text).not.toContain("Spent today");
    await world.post(`${keys}/${id}`, { action: "edit", kind: "inference", name: "daily", daily_spend_limit_usd: "3.5" }, member);
    const { text } = await world.get(`${keys}/${id}`, member);
    expect([text.includes("Spent today"), text.includes('value="3.50"')]).toEqual([true, true]);
    expect(await world.control.expect("GET", `/keys/${id}`)).toMatchObject({ daily_spend_limit_usd: "3.500000000" });
  });

  test("a revoked key is listed apart, and cannot be changed or revoked again", async () => {
    const { id } = await world.control.key("acme", { name: "ended" });
    const revoked = await world.post(`${keys}/${id}`, { action: "revoke" }, member);
    expect(revoked.headers.get("location")).toBe("/console/w/acme/keys?tab=revoked");
    expect((await world.get(keys, member)).text).not.toContain(">ended<");
    expect((await world.get(`${keys}?tab=revoked`, member)).text).toContain("ended");
    expect((await world.get(`${keys}/${id}`, member)).text).not.toContain('value="revoke"');
  });

  test("an auditor sees all keys, and no form", async () => {
    await world.control.key("acme", { name: "watched" });
    const { text } = await world.get(keys, await world.signIn("auditor@acme"));
    for (const words of ["watched", "Auditors are read-only"]) expect(text).toContain(words);
  });

  test("a member sees neither the keys of others nor their pages", async () => {
    const { id } = await world.control.key("acme", { name: "of the admin", owner: "admin@acme" });
    expect((await world.get(keys, member)).text).not.toContain("of the admin");
    expect((await world.get(`${keys}/${id}`, member)).status).toBe(404);
  });

  test("whoever loses the role while the page is open is refused at the next form", async () => {
    await world.control.expect("POST", "/members", { body: { workspace: "acme", email: "moved@acme", role: "member" } });
    const browser = await world.signIn("moved@acme");
    expect((await world.get(keys, browser)).status).toBe(200);
    await world.control.expect("PATCH", "/members/moved@acme", { body: { workspace: "acme", role: "auditor" } });
    expect((await create({ name: "late" }, browser)).status).toBe(403);
  });

  test("no key is created while the platform is off, and the page says why", async () => {
    await world.control.expect("PATCH", "/workspaces/acme", { body: { enabled: false } });
    expect((await world.get(keys, member)).text).toContain("The platform is switched off");
    expect((await create({ name: "no" })).text).toContain("the workspace is switched off");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { enabled: true } });
  });

  test("a key is found by a part of its name once the list is long, and by its id in the filter of requests above 200", async () => {
    await world.control.workspace("many", "10");
    const many = await world.signIn("member@many");
    for (let index = 0; index < 201; index++) await world.control.key("many", { name: index === 7 ? "payroll" : `job ${index}` });
    const path = "/console/w/many/keys";
    expect((await world.get(path, many)).text).toContain('name="text" type="search"');
    expect((await world.get(keys, member)).text).not.toContain('name="text" type="search"');
    const found = (await world.get(`${path}?text=PAYRO`, many)).text;
    expect([found.includes("payroll"), found.includes("job 8")]).toEqual([true, false]);
    const none = (await world.get(`${path}?text=nothing&tab=revoked`, many)).text;
    expect(none).toContain("No revoked key has this text");
    expect(none).toContain(`href="${path}?text=nothing"`);
    expect((await world.get("/console/w/many/requests?from=2026-01-01", many)).text).toContain(
      'id="filter-key" name="key" type="search"',
    );
  });
});
