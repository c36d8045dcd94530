/** The operator's pages of providers, and what leads to them: Home, a model's page, the list of models, and own keys. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { DomainError } from "../../src/accounts/errors.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { acts, foreignKey, goodKey, lateKey, ServiceProviders, wrongKey } from "../support/gateway/service-providers.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the pages of providers on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let providers: ServiceProviders;
  let operator: Browser;
  let admin: Browser;
  let member: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    providers = await ServiceProviders.in(world.control);
    await world.control.workspace("acme", "10");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { early_access: ["own_keys", "models_page"] } });
    [operator, admin, member] = await Promise.all([world.signIn(null), world.signIn("admin@acme"), world.signIn("member@acme")]);
  }, 60_000);
  afterAll(async () => {
    await providers[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const page = "/console/operator/providers";
  const show = async (path = page, browser = operator) => (await world.get(path, browser)).text;
  /** The cell of a provider's state. */
  const stateOf = (text: string, id: string) => new RegExp(`data-fresh="state-${id}">(.*?)</span></div>`, "s").exec(text)?.[1];
  const send = (fields: Record<string, string>, path = page, browser = operator) => world.post(path, fields, browser);
  const ticks = { terms_checked: "true", subprocessor_listed: "true" };
  const inModels = (path: string, browser: Browser) => show(`/console/w/acme${path}`, browser);

  test("the list has a row with state and next step for each provider, and each view counts its own", async () => {
    const text = await show();
    expect(text).toContain("no key");
    expect(text).toContain(
      `<a class="button quiet small" href="${page}?add=acme">Add key<span class="unseen"> of Acme</span></a>`,
    );
    expect(text).toContain("Read terms");
    expect(stateOf(text, "set")).toContain("checking 1");
    expect(text).toContain("1 model is being checked");
    const counts = [...text.matchAll(/<span class="count">(\d+)<\/span>/g)].map(([, count]) => Number(count));
    expect(counts).toEqual([3, 1, 1, 1]);
    expect((await show(`${page}?show=unused`)).match(/data-fresh="state-\w+"/g)).toEqual(['data-fresh="state-acme"']);
  });

  test("the list is sorted by what needs the operator first, and its views keep that", async () => {
    const text = await show(`${page}?sort=state&columns=provider,state,tested`);
    expect([...text.matchAll(/data-fresh="state-(\w+)"/g)].map(([, id]) => id)).toEqual(["open", "set", "acme"]);
    expect(text).toContain(`href="${page}?columns=provider%2Cstate%2Ctested&#38;sort=state&#38;show=used"`);
    expect(text).toContain('data-label="Tested"');
  });

  test("the dialog is part of the page's address, with both acts and the link to the terms", async () => {
    const text = await show(`${page}?add=acme`);
    expect(text).toContain(
      '<dialog id="add-provider" aria-labelledby="add-provider-title" data-asks="changes" open data-at-once',
    );
    expect(text).toContain("Add Acme");
    expect(text).toContain('href="https://acme.example/terms" target="_blank" rel="noopener noreferrer"');
    expect(text.match(/type="checkbox"[^>]* required/g)).toHaveLength(2);
    expect(await show(`${page}?add=nobody`)).not.toContain("<dialog");
    expect(await show(`${page}?add=open`)).not.toContain('type="password"');
  });

  test("a refused key keeps the ticks, is not shown again, and the message is at its field", async () => {
    const { status, text } = await send({ action: "add", provider: "acme", key: wrongKey, ...ticks });
    expect(status).toBe(400);
    expect(text).toContain('id="add-provider-key-problem"');
    expect(text).toContain("Acme refused the key");
    expect(text.slice(text.indexOf("<dialog")).match(/type="checkbox"[^>]* checked/g)).toHaveLength(2);
    expect(text).not.toContain(wrongKey);
  });

  test("a key of another region is refused with the name of that region, and of a key that a provider is late to judge nothing is said", async () => {
    const foreign = await send({ action: "add", provider: "acme", key: foreignKey, ...ticks });
    expect(foreign.status).toBe(400);
    expect(foreign.text).toContain('id="add-provider-key-problem"');
    expect(foreign.text).toContain("The key is right, but for another region of Acme: acme.cn (China) takes it");
    const late = await send({ action: "add", provider: "acme", key: lateKey, ...ticks });
    expect([late.status, late.text.includes(lateKey)]).toEqual([503, false]);
    expect(late.text).toMatch(/Acme did not answer within \d+ seconds, so nothing is known about the key: try again/);
    for (const { text } of [foreign, late])
      expect(text.slice(text.indexOf("<dialog")).match(/type="checkbox"[^>]* checked/g)).toHaveLength(2);
    expect((await show(`${page}?show=unused`)).match(/data-fresh="state-\w+"/g)).toEqual(['data-fresh="state-acme"']);
  });

  test("without a tick nothing is tested, and the box says so", async () => {
    const { status, text } = await send({ action: "add", provider: "acme", key: goodKey, terms_checked: "true" });
    expect([status, text.includes('id="add-provider-subprocessor_listed-problem"')]).toEqual([400, true]);
  });

  test("before: a model's page and the lists say what is missing, and lead there", async () => {
    expect(await inModels("/models/acme/one", operator)).toContain(`<a href="${page}?add=acme">Add the key of Acme</a>`);
    const seen = await inModels("/models/acme/one", admin);
    expect(seen).toContain("The operator adds the key of Acme.");
    expect(seen).toContain('href="/console/w/acme/provider-keys/new?provider=acme"');
    expect(await inModels("/models/acme/one", member)).not.toContain("provider-keys/new");
    expect(await inModels("/models", member)).toContain("needs a key");
    expect(await inModels("/", operator)).toContain(`<a href="${page}">Add a provider’s key</a>`);
    expect(await inModels("/provider-keys/new?provider=acme", admin)).toContain("once the operator has read the terms of Acme");
    expect(await inModels("/provider-keys/new?provider=acme", operator)).toContain(
      `href="${page}?add=acme&#38;own=yes">Read the terms of Acme`,
    );
    const own = await show(`${page}?add=acme&own=yes`);
    expect([own.includes("Allow own keys of Acme"), own.includes('type="password"')]).toEqual([true, false]);
  });

  test("where the providers cannot be listed, Home says nothing of them, and shows the rest", async () => {
    const list = spyOn(providers.models, "serviceKey").mockImplementation(() => {
      throw new DomainError("unavailable", "There is no catalog");
    });
    try {
      const text = await inModels("/", operator);
      expect(text).toContain(`See under <a href="${page}">Providers</a>`);
      expect(text).not.toContain("No model of a provider can be called");
    } finally {
      list.mockRestore();
    }
  });

  test("an accepted key leads to the provider's page, where each model turns as its check ends", async () => {
    const { status, headers } = await send({ action: "add", provider: "acme", key: goodKey, ...ticks });
    expect([status, headers.get("location")]).toEqual([303, `${page}/acme`]);
    const checking = await show(`${page}/acme`);
    expect(checking).toContain("2 models are being checked");
    expect(checking).toContain("<noscript>Load this page again to see which.</noscript>");
    expect(checking).toContain(`<code>…${goodKey.slice(-4)}</code>`);
    await providers.checked("acme/one", null);
    await providers.checked("acme/two", "upstream_rejected");
    const checked = await show(`${page}/acme`);
    expect(checked).not.toContain("data-checking");
    expect(checked).toContain('data-fresh="model-acme/one"><span class="badge good">callable</span>');
    expect(checked).toContain(
      'data-fresh="model-acme/two"><span class="badge bad">failed its check</span><span class="under"><code>upstream_rejected</code>',
    );
    expect(await inModels("/", operator)).toContain("Acme</bdi> serves models.");
    expect(await inModels("/models/acme/two", operator)).toContain(`<a href="${page}/acme">See Acme</a>`);
    expect(await inModels("/provider-keys/new?provider=acme", admin)).toContain('<option value="acme" selected>Acme</option>');
  });

  test("its page has each model's answers of the last day, and the worst of them as Fleet has it", async () => {
    const { parts } = world.control;
    const { measure } = parts;
    const isOf = (id: string, entry: string): boolean => providers.models.find(id)?.routes[0]?.entry === entry;
    parts.measure = ({ entry }) => {
      if (isOf("acme/one", entry)) return { uptimePercent: 99.5, latencyMs: 1_250 };
      return isOf("acme/two", entry) ? { uptimePercent: 80, latencyMs: null } : null;
    };
    try {
      const [text, fleet] = [await show(`${page}/acme`), await show("/console/operator/service")];
      for (const words of ["99.5 %", "80 %", "1,250 ms", "failing", "of 2", "Workspaces list their own requests."])
        expect(text).toContain(words);
      expect(fleet).toContain(`<a href="${page}/acme">acme</a>`);
      for (const words of ["failing", "80 %"]) expect(fleet).toContain(words);
      expect(await show(`${page}/set`)).toContain("not measured");
    } finally {
      parts.measure = measure;
    }
  });

  test("a test says what it found; disable, enable and remove do what they say", async () => {
    const act = async (action: string, path = `${page}/acme`) => (await send({ action }, path)).status;
    expect([await act("test"), await act("disable")]).toEqual([303, 303]);
    expect(await show(`${page}/acme`)).toContain('data-fresh="badge"><span class="badge neutral">disabled</span>');
    expect(await inModels("/models/acme/one", operator)).toContain("its provider is disabled");
    expect([await act("enable"), await act("test", `${page}/set`)]).toEqual([303, 303]);
    expect(stateOf(await show(), "set")).toContain("set.example cannot be reached from this service");
    expect(await show(`${page}/acme/remove`)).toContain("Its 1 callable models stop at once");
    expect(await act("remove")).toBe(303);
    expect(stateOf(await show(), "acme")).toContain("no key");
  });

  test("a sign-in of more than an hour ago adds and removes nothing", async () => {
    const { token } = operator;
    const late = await world.signIn(null);
    await database.sql`UPDATE sessions SET proved_at = proved_at - interval '61 minutes' WHERE email IS NULL`;
    expect(await show(`${page}?add=acme`, late)).toContain("To add a provider, sign in again");
    for (const fields of [{ action: "add", provider: "acme", key: goodKey, ...ticks }]) {
      expect((await send(fields, page, late)).status).toBe(401);
    }
    expect((await send({ action: "remove" }, `${page}/set`, late)).status).toBe(401);
    expect(token).not.toBe(late.token);
  });

  test.each(["member", "auditor", "admin", "super_admin"])("a %s sees none of it", async (role) => {
    const browser = await world.signIn(`${role}@acme`);
    for (const path of [page, `${page}/acme`, `${page}/acme/remove`]) expect((await world.get(path, browser)).status).toBe(403);
    expect((await send({ action: "add", provider: "acme", key: goodKey, ...acts } as never, page, browser)).status).toBe(403);
  });
});
