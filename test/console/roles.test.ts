/**
 * What each role may do in the Console, on the wire: test/console/roles.md has a row for each page and each of its forms, and each is sent by a
 * session of each role. A new page or form needs its row there, and what it takes in the two tables here.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "../../src/console/page.ts";
import { pages } from "../../src/console/pages.ts";
import { formToken } from "../../src/accounts/sessions/browser.ts";
import { startSession } from "../../src/accounts/sessions/sign-in.ts";
import { totpStepMs } from "../../src/accounts/limits.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { hasParameters, nameOf as pageName, samplePaths } from "../support/console-sample/paths.ts";
import { RefusedCalls } from "../../src/gateway/refusals/refused-calls.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { storePrompt } from "../support/gateway/stored-prompt.ts";
import { SecuritySamples } from "../support/security/role-samples.ts";
import { TopUpWorld } from "../support/stripe/top-up-world.ts";
import { addProviders } from "../support/own-key-providers.ts";
import { appCode } from "../support/sign-in/authenticator-app.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

const roles = ["member", "auditor", "admin", "super_admin", "operator"] as const;

interface Row {
  page: string;
  /** `see`, or the value of the form's field `action`. */
  action: string;
  allowed: Record<(typeof roles)[number], boolean>;
}

const text = readFileSync(new URL("roles.md", import.meta.url), "utf8");

/** Any word allows it: `own` is sent for something of the sender's own. */
const rows: Row[] = [...text.matchAll(/^\| `(\/[\w/:*-]*)` +\| `([\w-]+)` +\|(.*)\|$/gm)].map(
  ([, page = "", action = "", cells = ""]) => {
    const words = cells.split("|").map((word) => word.trim() !== "");
    const [member = false, auditor = false, admin = false, super_admin = false, operator = false] = words;
    return { page, action, allowed: { member, auditor, admin, super_admin, operator } };
  },
);

/** Forms that take a sign-in of the last hour. */
const takesNewSignIn = new Set([
  "/workbench again",
  "/members/:id role",
  "/members/:id/invitation create-link",
  "/connections/:id replace",
  "/connections/:id delete",
  "/connections/:id/delete delete",
  "/settings prompts",
  "/settings/delete-prompts delete-prompts",
  "/provider-keys create",
  "/provider-keys/new create",
  "/provider-keys/:id replace",
  "/provider-keys/:id disable",
  "/provider-keys/:id delete",
]);

/** Pages whose parameter names nothing of a workspace: a model, a month, a kind of alert, a vendor, an issue of the advisories. */
const namesNothingHere = /^\/(models|statements|alerts\/new|alerts\/webhooks\/new|connections\/new|connect|vulnerabilities)\//;

/** Forms that name a thing of the workspace, on pages without a parameter. */
const namesThing = new Set([
  "/views edit",
  "/views delete",
  "/findings triage",
  "/workbench again",
  "/alerts delete-rule",
  "/alerts replay",
]);

/** The page's path, as the document has it. */
const nameOf = ({ of, path }: Page): string => (of === "operator" ? `/operator${path}`.replace(/\/$/, "") : path);

test("docs/reference/console.md names every page of the navigation", () => {
  const reference = readFileSync(new URL("../../docs/reference/console.md", import.meta.url), "utf8");
  const labels = pages.flatMap(({ navigation }) => navigation?.label ?? []);
  expect(labels.filter((label) => !reference.includes(`**${label}**`))).toEqual([]);
});

test("each page with parameters has a path in the sample, and no other has one", () => {
  expect(Object.keys(samplePaths).toSorted()).toEqual(pages.filter(hasParameters).map(pageName).toSorted());
});

describe("test/console/roles.md", () => {
  test("it has a row for each page and each of its forms, and no other", () => {
    const formsOf = ({ actions = {}, earlyAccess }: Page): string[] => [
      ...Object.keys(actions),
      ...(earlyAccess ? ["switch-on"] : []),
    ];
    const known = pages.flatMap((page) => ["see", ...formsOf(page)].map((action) => `${nameOf(page)} ${action}`));
    expect(rows.map(({ page, action }) => `${page} ${action}`).toSorted()).toEqual(known.toSorted());
  });
});

describe.each(oneDatabase)("the roles on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let security: SecuritySamples;
  let topUps: TopUpWorld;
  let people = 0;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    addProviders(world.control.parts);
    topUps = new TopUpWorld(database.sql, world.control);
    security = await SecuritySamples.of(world, await world.control.workspace("acme", "10"));
  });
  afterAll(async () => {
    await security[Symbol.asyncDispose]();
    topUps[Symbol.dispose]();
    await database[Symbol.asyncDispose]();
  });

  const newMember = async (): Promise<string> => {
    const email = `person-${++people}@acme`;
    await world.control.expect("POST", "/members", { body: { workspace: "acme", email, role: "member" } });
    return email;
  };
  const newProviderKey = async (): Promise<string> => {
    await database.sql`DELETE FROM own_keys`;
    // Tests of keys are bounded.
    await database.sql`DELETE FROM hourly_acts`;
    const form = { workspace: "acme", provider: "alpha", key: "sk-acme-0123456789" };
    return String((await world.control.expect("POST", "/provider-keys", { body: form }))["id"]);
  };
  const newRequest = async (email: string | null): Promise<string> => {
    const key = await ids["/keys/:id"]?.(email);
    const request = settlement({ workspace: await workspaceId(), key: key ?? "" });
    await book(database.sql, request);
    await world.control.expect("PATCH", "/workspaces/acme", { body: { prompt_storage: true } });
    await storePrompt(request, world.control);
    return request.generation;
  };
  const newRefusal = async (email: string | null): Promise<string> => {
    const key = (await ids["/keys/:id"]?.(email)) ?? "";
    const calls = new RefusedCalls({ sql: database.sql, clock: world.control.clock, log: silentLog });
    const about = { endpoint: "chat", model: null, message: "Too many", param: null, retryAfterMs: null } as const;
    calls.note({ workspace: await workspaceId(), key, code: "rate_limited", status: 429, ...about });
    await calls.flushed(10_000);
    const [row] = await world.control.list(`/refusals?workspace=acme&key=${key}`);
    return String(row?.["request_id"]);
  };
  const newWebhook = async (): Promise<string> => {
    await database.sql`DELETE FROM alert_webhooks`;
    const form = { workspace: "acme", url: "https://hooks.example/acme" };
    return String((await world.control.expect("POST", "/alert-webhooks", { body: form }))["id"]);
  };
  const newRule = async (): Promise<Record<string, string>> => {
    await database.sql`DELETE FROM alert_rules`;
    const form = { workspace: "acme", kind: "key_month" };
    return { rule: String((await world.control.expect("POST", "/alert-rules", { body: form }))["id"]) };
  };
  /** A test that did not arrive. */
  const newAlert = async (): Promise<Record<string, string>> => {
    const [webhook = { id: await newWebhook() }] = await world.control.list("/alert-webhooks?workspace=acme");
    const path = `/alert-webhooks/${String(webhook["id"])}/test`;
    return { alert: String((await world.control.expect("POST", path, { body: {} }))["id"]) };
  };
  /** Of the sender; of a member for the operator, who has none. */
  const newView = async (_sender: Browser, email: string | null): Promise<Record<string, string>> => {
    const body = { workspace: "acme", list: "keys", name: `Mine ${++people % 20}`, query: "sort=name" };
    const { id } = await world.control.expect("POST", "/views", { body, as: email ?? "member@acme" });
    return { id: String(id), name: `Renamed ${++people}` };
  };
  const workspaceId = async () => String((await world.control.expect("GET", "/workspaces/acme"))["id"]);

  /** What stands for `:id` in a page's address. @param email of the sender; null: the operator */
  const ids: Record<string, (email: string | null) => Promise<string>> = {
    "/keys/:id": async (email) => (await world.control.key("acme", { owner: email === "member@acme" ? email : "admin@acme" })).id,
    "/models/*id": async () => "stub/alpha",
    "/requests/:id": newRequest,
    "/requests/refused/:id": newRefusal,
    // The open one: that of the ledger's first entry, by the database's clock.
    "/statements/:number": async () => new Date().toISOString().slice(0, 7),
    "/members/:id": newMember,
    "/provider-keys/:id": newProviderKey,
    "/top-ups/:id": paidTopUp,
    "/operator/workspaces/:id": workspaceId,
    "/alerts/new/:kind": async () => "balance",
    "/alerts/rules/:id": async () => String((await newRule())["rule"]),
    "/alerts/webhooks/new/:format": async () => "weir",
    "/alerts/webhooks/:id": newWebhook,
    "/operator/providers/:id": async () => "alpha",
  };

  /** The last payment is of an account that has room for a refund. */
  async function paidTopUp(): Promise<string> {
    const { id } = await topUps.pay("acme");
    await topUps.deliver(topUps.stub.event("payment_intent.succeeded"));
    return id;
  }

  /** What a form sends, so that it changes something. */
  const forms: Record<
    string,
    (sender: Browser, email: string | null) => Record<string, string> | Promise<Record<string, string>>
  > = {
    "/views save": () => ({ list: "keys", query: "sort=name", name: "Mine" }),
    "/views edit": newView,
    "/views delete": newView,
    "/keys create": () => ({ kind: "tools" }),
    "/keys/new create": () => ({ kind: "inference", name: "job" }),
    "/keys/:id edit": () => ({ kind: "inference", name: "renamed" }),
    "/workbench again": async (_sender, email) => ({ generation: await newRequest(email) }),
    "/members invite": () => ({ email: `person-${++people}@acme`, role: "member" }),
    "/members/new invite": () => ({ email: `person-${++people}@acme`, role: "auditor" }),
    "/members/:id role": () => ({ role: "auditor" }),
    "/members/:id invite-again": declined,
    "/members/:id/invitation create-link": invited,
    "/members/:id limit": () => ({ monthly_spend_limit_usd: String(++people) }),
    "/settings spending": () => ({ spend_limit_usd: String(++people), "was.spend_limit_usd": "" }),
    "/settings calls": () => ({ "was.fallbacks": "true" }),
    "/settings data": () => ({ prompt_storage: "true", "was.prompt_storage": "" }),
    "/settings prompts": () => ({ prompt_retention_days: String(++people), "was.prompt_retention_days": "" }),
    "/settings/delete-prompts delete-prompts": () => ({ before: "2026-11-20" }),
    "/settings answers": () => ({ cost_in_answers: "true", "was.cost_in_answers": "" }),
    "/settings platform": () => ({ "was.enabled": "true" }),
    "/settings early": () => ({ "early_access.routing": "true", "was.early_access.routing": "" }),
    "/provider-keys create": withoutKeys,
    "/provider-keys/new create": withoutKeys,
    "/provider-keys/:id replace": () => ({ key: "sk-acme-9876543210" }),
    "/alerts delete-rule": newRule,
    "/alerts replay": newAlert,
    "/alerts/new/:kind create": () => ({ balance_usd: String(++people), mail: "true" }),
    "/alerts/rules/:id edit": () => ({ percents: String(1 + (people++ % 100)), mail: "true" }),
    "/alerts/webhooks/new/:format create": () => ({ url: `https://hooks.example/${++people}` }),
    "/alerts/webhooks/:id replay": newAlert,
    "/top-ups create": () => ({ usd: String(5 + (people++ % 100)) }),
    "/top-ups automatic": async () => {
      await paidTopUp();
      return { enabled: "true", threshold_usd: "5", amount_usd: "20", monthly_cap_usd: "100" };
    },
    "/top-ups/:id refund": () => ({ usd: "1" }),
    "/operator/providers add": () => ({
      provider: "alpha",
      key: "sk-acme-0123456789",
      terms_checked: "true",
      subprocessor_listed: "true",
    }),
    "/billing save": () => ({ name: `Company ${++people}` }),
    "/operator/seller save": () => ({ name: `Seller ${++people}` }),
    "/operator open": () => ({ name: `workspace ${++people}` }),
    "/operator/workspaces/new open": () => ({ name: `workspace ${++people}` }),
    "/operator/workspaces/:id credit": () => ({ usd: "1", ref: `invoice ${++people}` }),
    "/account confirm-second-factor": scannedCode,
    "/account password": () => ({ password: "violet harbour engine 47" }),
    "/account end-second-factor": currentCode,
    "/invitations accept": invitation,
    "/invitations decline": invitation,
  };
  async function withoutKeys(): Promise<Record<string, string>> {
    await database.sql`DELETE FROM own_keys`;
    await database.sql`DELETE FROM hourly_acts`;
    return { provider: "beta", key: "sk-acme-0123456789" };
  }

  /** An invitation to another workspace, sent to the sender. */
  async function invitation(_sender: Browser, email: string | null): Promise<Record<string, string>> {
    const name = `inviting-${++people}`;
    const workspace = await world.control.workspace(name);
    const body = { workspace, email: email ?? "operator@acme", role: "member" };
    await world.control.expect("POST", "/members", { body, as: `admin@${name}` });
    return { workspace, name };
  }

  /** The member of the page's address is invited, and no mail carries it. */
  async function invited(): Promise<Record<string, string>> {
    world.control.parts.sendsMail = false;
    await database.sql`UPDATE members SET active = false, consent = 'asked' WHERE email = ${`person-${people}@acme`}`;
    return {};
  }

  /** The member of the page's address has not accepted. */
  async function declined(): Promise<Record<string, string>> {
    await database.sql`UPDATE members SET active = false, consent = 'declined' WHERE email = ${`person-${people}@acme`}`;
    return {};
  }

  /** Secrets of apps that are set up, by address. */
  const secrets = new Map<string | null, string>();

  function currentCode(_sender: Browser, email: string | null): Record<string, string> {
    const { clock } = world.control;
    clock.advance(totpStepMs);
    const secret = secrets.get(email);
    return secret === undefined ? {} : { code: appCode(secret, clock.now()) };
  }

  async function scannedCode(sender: Browser, email: string | null): Promise<Record<string, string>> {
    const { text: shown } = await world.post("/console/account", { action: "set-up-second-factor" }, sender);
    const [, secret = ""] = /<code id="secret">([A-Z2-7 \n]+)<\/code>/.exec(shown) ?? [];
    const { clock } = world.control;
    clock.advance(totpStepMs);
    secrets.set(email, secret.replaceAll(/\s/g, ""));
    return { code: appCode(secret.replaceAll(/\s/g, ""), clock.now()) };
  }

  /** The first segments of a page's path with its parameter name what the id is of. */
  async function addressOf(page: string, email: string | null): Promise<string> {
    const [, start = ""] = /^(.*?[:*]\w+)/.exec(page) ?? [];
    const id = start === "" ? "" : await (ids[start] ?? security.ids[start])?.(email);
    const of = pages.find((one) => nameOf(one) === page)?.of;
    const path = page.replace(/[:*]\w+/, encodeURIComponent(id ?? ""));
    return of === "workspace" ? `/console/w/acme${path}` : `/console${path}`;
  }

  function sent(path: string, { file, ...fields }: Record<string, string>, browser: Browser) {
    return file === undefined ? world.post(path, fields, browser) : world.upload(path, { fields, file }, browser);
  }

  test.each(rows)("$page $action", async ({ page, action, allowed }) => {
    const late = takesNewSignIn.has(`${page} ${action}`) ? [{ role: "admin", isLate: true } as const] : [];
    for (const { role, isLate } of [...roles.map((one) => ({ role: one, isLate: false })), ...late]) {
      const settings = {
        enabled: true,
        early_access: action === "switch-on" ? [] : ["own_keys", "models_page", "usage_statements", "people"],
        prompt_storage: false,
        cost_in_answers: false,
        fallbacks: true,
      };
      await world.control.expect("PATCH", "/workspaces/acme", { body: settings });
      const email = role === "operator" ? null : `${role}@acme`;
      const way = email === null ? "operator token" : "link";
      const browser = await startSession(
        { email, way, agent: "", bothFactors: true },
        { sql: database.sql, clock: world.control.clock },
      );
      if (isLate)
        await database.sql`UPDATE sessions SET proved_at = proved_at - interval '61 minutes' WHERE id = ${browser.session.id}`;
      const path = await addressOf(page, email);
      const fields = {
        form_token: formToken(browser.token),
        session: browser.session.id,
        action,
        ...(await (forms[`${page} ${action}`] ?? security.forms[`${page} ${action}`])?.(browser, email)),
      };
      const { status, text: shown } = action === "see" ? await world.get(path, browser) : await sent(path, fields, browser);
      const expected = isLate ? [401] : allowed[role] ? [200, 303] : [400, 403, 404, 409];
      expect([role, status, expected.includes(status) ? "" : shown], `${page} ${action}`).toEqual([role, status, ""]);
    }
  });

  describe("an admin of another workspace", () => {
    let stranger: Awaited<ReturnType<typeof startSession>>;
    beforeAll(async () => {
      await world.control.workspace("other", "10");
      const settings = { early_access: ["own_keys", "models_page", "usage_statements", "people"], prompt_storage: true };
      await world.control.expect("PATCH", "/workspaces/other", { body: settings });
      stranger = await startSession(
        { email: "admin@other", way: "link", agent: "", bothFactors: true },
        { sql: database.sql, clock: world.control.clock },
      );
    });

    const ofWorkspace = rows.filter(({ page }) => pages.find((one) => nameOf(one) === page)?.of === "workspace");

    test("finds no page here and no form", async () => {
      for (const { page, action } of ofWorkspace) {
        const path = `/console/w/acme${page.replace(/[:*]\w+/, "any")}`;
        const answered = action === "see" ? await world.get(path, stranger) : await world.post(path, { action }, stranger);
        expect([page, action, answered.status]).toEqual([page, action, 404]);
      }
    });

    const things = ofWorkspace.filter(({ page, action }) =>
      hasParameters({ path: page }) ? !namesNothingHere.test(page) : namesThing.has(`${page} ${action}`),
    );

    test.each(things)("reads and changes nothing of this one by its id: $page $action", async ({ page, action }) => {
      // Whoever is refused in the own workspace is refused for the id alone.
      const path = (await addressOf(page, "admin@acme")).replace("/w/acme", "/w/other");
      const owner = await startSession(
        { email: "admin@acme", way: "link", agent: "", bothFactors: true },
        { sql: database.sql, clock: world.control.clock },
      );
      const further = await (forms[`${page} ${action}`] ?? security.forms[`${page} ${action}`])?.(owner, "admin@acme");
      const fields = { form_token: formToken(stranger.token), action, ...further };
      const before = await recorded();
      const { status, text: shown } = action === "see" ? await world.get(path, stranger) : await sent(path, fields, stranger);
      expect([status, [400, 403, 404, 409].includes(status) ? "" : shown]).toEqual([status, ""]);
      expect(await recorded()).toBe(before);
    });

    /** How much the audit logs have of both workspaces. */
    async function recorded(): Promise<number> {
      const [row] = await database.sql<{ count: number }[]>`SELECT count(*)::integer AS count FROM audit_events`;
      return row?.count ?? 0;
    }
  });
});
