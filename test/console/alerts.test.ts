/** The pages of alerts: rules, webhooks with a secret that is shown once, and the alerts that were sent. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { alertKindNames } from "../../src/accounts/alerts/kinds.ts";
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

  test("without rules the page says what is mailed anyway, and offers an admin to set one", async () => {
    const { text } = await world.get(at(""), admin);
    expect(text).toContain("Admins get mail only about a refused provider key and a failed top-up");
    expect(text).toContain(`href="${at("/new")}"`);
    const auditor = await world.get(at(""), await world.signIn("auditor@acme"));
    expect(auditor.text).toContain("Only admins change alerts. Your role is auditor.");
    expect(auditor.text).not.toContain(`href="${at("/new")}"`);
    expect((await world.get(at(""), await world.signIn("member@acme"))).status).toBe(403);
  });

  test("each kind has a page with its fields alone, and what it will say", async () => {
    const key = await world.control.key("acme", { name: "<b>production</b>" });
    const list = (await world.get(at("/new"), admin)).text;
    const fields = new Map<string, string>();
    for (const kind of alertKindNames) {
      expect(list).toContain(`href="${at(`/new/${kind}`)}"`);
      const { text } = await world.get(at(`/new/${kind}`), admin);
      const shown = [...text.matchAll(/<(?:input|select)[^>]* id="alert-(\w+)"/g)].map(([, name]) => name);
      fields.set(kind, shown.join(" "));
      expect(text).toMatch(/<blockquote><bdi>[^<]{20,}<\/bdi><\/blockquote>/);
    }
    expect(Object.fromEntries(fields)).toEqual({
      key_month: "only percents mail webhooks",
      workspace_month: "percents mail webhooks",
      key_day: "only percents mail webhooks",
      workspace_day: "percents mail webhooks",
      member_month: "only percents mail webhooks",
      balance: "balance_usd mail webhooks",
      provider_key_refused: "webhooks",
      top_up_failed: "webhooks",
      new_findings: "mail webhooks",
      accepted_risk_ended: "mail webhooks",
      usage_day: "mail webhooks",
      usage_week: "mail webhooks",
      usage_month: "mail webhooks",
    });
    const { text } = await world.get(at(`/new/key_month?only=${key.id}`), admin);
    expect(text).toContain(`<option value="${key.id}" selected>&#60;b&#62;production&#60;/b&#62; (member@acme)</option>`);
    expect(text).toContain("80 % of the monthly limit of the key &#34;production&#34; (key-…) is spent: 8.00 of 10.00 USD");
    expect(text).toContain("To the admins: admin@acme, super_admin@acme, and to the key’s owner.");
    expect((await world.get(at("/new/nothing"), admin)).status).toBe(404);
  });

  test("a threshold above the limit and an empty amount are refused at their field", async () => {
    const refused = await world.post(at("/new/key_month"), { action: "create", percents: "80, 120", mail: "true" }, admin);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/value="80, 120"[^]*class="problem"[^]*120 % of a limit is never spent/);
    const empty = await world.post(at("/new/balance"), { action: "create", balance_usd: "", mail: "true" }, admin);
    expect([empty.status, empty.text.includes("Enter an amount, such as 25.00.")]).toEqual([400, true]);
  });

  test("a rule is set, changed field by field and deleted, so that two tabs do not undo each other", async () => {
    const fields = { action: "create", percents: "80 %, 90 %", mail: "true", webhooks: "true" };
    expect((await world.post(at("/new/key_month"), fields, admin)).status).toBe(303);
    const { text } = await world.get(at(""), admin);
    expect(text).toContain("80 %, 90 %");
    const [, rule = ""] = /name="rule" value="([^"]+)"/.exec(text) ?? [];
    const page = at(`/rules/${rule}`);
    const shown = Object.fromEntries(
      [...(await world.get(page, admin)).text.matchAll(/name="(was\.\w+)" value="([^"]*)"/g)].map(([, name, was]) => [name, was]),
    );
    expect(shown).toMatchObject({ "was.percents": "80, 90", "was.mail": "true" });
    const tab = { action: "edit", ...shown, only: "", percents: "80, 90", mail: "true", webhooks: "true" };
    expect((await world.post(page, { ...tab, percents: "70" }, admin)).status).toBe(303);
    const { webhooks: _off, ...withoutWebhooks } = tab;
    expect((await world.post(page, withoutWebhooks, admin)).status).toBe(303);
    const [changed] = await world.control.list("/alert-rules?workspace=acme");
    expect(changed).toMatchObject({ percents: [70], mail: true, webhooks: false });
    expect((await world.post(at(""), { action: "delete-rule", rule }, admin)).status).toBe(303);
    expect(await world.control.list("/alert-rules?workspace=acme")).toEqual([]);
    expect((await world.post(page, tab, admin)).status).toBe(404);
  });

  test("where no mail server is set up, the page says that mails wait", async () => {
    world.control.parts.sendsMail = false;
    await world.control.expect("POST", "/alert-rules", { body: { workspace: "acme", kind: "workspace_month" } });
    expect((await world.get(at(""), admin)).text).toContain("Add a webhook, so that alerts reach someone now.");
    expect((await world.get(at("/new/balance"), admin)).text).toContain("No mail server is set up: the mail waits.");
    world.control.parts.sendsMail = true;
    expect((await world.get(at(""), admin)).text).not.toContain("No mail server");
  });

  test("a webhook's secret is shown once, a test says how it was answered, and what it got is sent again", async () => {
    const url = "https://hooks.example/<b>acme</b>";
    const add = at("/webhooks/new/weir");
    const private_ = await world.post(add, { action: "create", url: "https://10.0.0.1/" }, admin);
    expect(private_.text).toContain("Enter an address that is reachable from everywhere.");
    const made = await world.post(add, { action: "create", url }, admin);
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

  test("Slack, Teams and PagerDuty have their own forms, and no page shows what their receiver gave out", async () => {
    const name = `‮${"x".repeat(99)}`;
    const forms = {
      slack: { url: "https://hooks.slack.com/services/T0/B0/hush", name },
      teams: { url: "https://example.logic.azure.com/workflows/w/invoke?sig=hush", name: "Teams" },
      pagerduty: {
        url: "https://events.eu.pagerduty.com/v2/enqueue",
        integration_key: "hush5678901234567890123456789012",
        name: "On call",
      },
    };
    for (const [format, fields] of Object.entries(forms)) {
      const page = at(`/webhooks/new/${format}`);
      expect((await world.get(page, admin)).text).toMatch(/<ol><li>[^]*<h2 id="add-title">2. Here<\/h2>/);
      const made = await world.post(page, { action: "create", ...fields }, admin);
      expect([made.status, made.headers.get("location")]).toEqual([303, expect.stringMatching(/alerts\/webhooks\/hook-/)]);
      const shown = (await world.get(made.headers.get("location") ?? "", admin)).text;
      expect([shown.includes("hush"), shown.includes('value="rotate"'), shown.includes('value="test"')]).toEqual([
        false,
        false,
        true,
      ]);
    }
    const wrong = await world.post(
      at("/webhooks/new/pagerduty"),
      { action: "create", ...forms.pagerduty, integration_key: "short" },
      admin,
    );
    expect([
      wrong.status,
      wrong.text.includes('id="new-webhook-integration_key-problem"'),
      wrong.text.includes('"short"'),
    ]).toEqual([400, true, false]);
    const list = (await world.get(at(""), admin)).text;
    expect([list.includes("messages for Slack"), list.includes("hooks.slack.com/<wbr />…"), list.includes("T0/B0")]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
