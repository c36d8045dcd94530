/** The pages of alerts: rules, webhooks with a secret that is shown once, and the alerts that were sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the pages of alerts on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let admin: Browser;
  const at = (path: string) => `/console/w/acme/alerts${path}`;

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
    admin = await world.signIn("admin@acme");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  test("without rules the page says what is told anyway, and offers an admin to set one", async () => {
    const { text } = await world.get(at(""), admin);
    expect(text).toContain("Admins get mail only about a refused provider key and a failed top-up");
    expect(text).toContain(`href="${at("/new")}"`);
    const auditor = await world.get(at(""), await world.signIn("auditor@acme"));
    expect(auditor.text).toContain("Only admins change alerts. Your role is auditor.");
    expect(auditor.text).not.toContain(`href="${at("/new")}"`);
    expect((await world.get(at(""), await world.signIn("member@acme"))).status).toBe(403);
  });

  test("a threshold above the limit is refused beside its field, and a right one is listed and deleted", async () => {
    const fields = { action: "create", kind: "key_month", mail: "true" };
    const refused = await world.post(at("/new"), { ...fields, percents: "80, 120" }, admin);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/value="80, 120"[^]*class="problem"[^]*120 % of a limit is never spent/);
    expect((await world.post(at("/new"), { ...fields, percents: "80 %, 90 %" }, admin)).status).toBe(303);
    const { text } = await world.get(at(""), admin);
    expect(text).toContain("80 %, 90 %");
    const [, rule = ""] = /name="rule" value="([^"]+)"/.exec(text) ?? [];
    expect((await world.post(at(""), { action: "delete-rule", rule }, admin)).status).toBe(303);
    expect(await world.control.list("/alert-rules?workspace=acme")).toEqual([]);
  });

  test("a webhook's secret is shown once, a test says how it was answered, and what it got is sent again", async () => {
    const url = "https://hooks.example/<b>acme</b>";
    const private_ = await world.post(at("/webhooks/new"), { action: "create", url: "https://10.0.0.1/" }, admin);
    expect(private_.text).toContain("Enter an address that is reachable from everywhere.");
    const made = await world.post(at("/webhooks/new"), { action: "create", url }, admin);
    expect(made.text).toMatch(/value="whsec_[\w-]{43}"/);
    expect(made.text).not.toContain("<b>acme");
    const [webhook] = await world.control.list("/alert-webhooks?workspace=acme");
    const path = at(`/webhooks/${String(webhook?.["id"])}`);
    world.control.callWebhook = async () => ({ status: 503, headers: {}, body: Buffer.from("") });
    const said = (await world.post(path, { action: "test" }, admin)).headers.get("set-cookie") ?? "";
    const shown = await world.get(path, admin, { cookie: `weir=${admin.token}; ${said.split(";")[0]}` });
    expect(shown.text).toContain("The test did not arrive: it answered 503.");
    expect(shown.text).toContain("given up");
    expect(shown.text).not.toContain("whsec_");
    const [, alert = ""] = /name="alert" value="([^"]+)"/.exec(shown.text) ?? [];
    expect((await world.post(path, { action: "replay", alert }, admin)).status).toBe(303);
    expect((await world.get(at(""), admin)).text).toContain("waiting");
    const rotated = await world.post(path, { action: "rotate" }, admin);
    expect(rotated.text).toMatch(/value="whsec_[\w-]{43}"/);
    expect((await world.get(`${path}/delete`, admin)).text).toContain("which cannot be undone");
    expect((await world.post(path, { action: "delete" }, admin)).status).toBe(303);
    expect((await world.get(path, admin)).status).toBe(404);
  });
});
