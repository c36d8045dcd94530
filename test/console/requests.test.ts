/** The log's pages: filters, one request's computation, and who may read a stored prompt. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Catalog } from "../../src/gateway/models/model.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { storePrompt } from "../support/gateway/stored-prompt.ts";
import { aModel } from "../support/providers/models.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

const path = "/console/w/acme/requests";
const prompt = "My <script>alert(1)</script> prompt";
/** Prices of its only route: 1.25 and 10 USD for a million tokens, a tenth for cached ones; twice as much above 200,000 tokens. */
const model = aModel({ id: "acme/tiered" });
const prices = { input: 1_250_000n, output: 10_000_000n, cacheRead: 125_000n, cacheWrite: 1_250_000n };
const dearer = { input: 2_500_000n, output: 20_000_000n, cacheRead: 250_000n, cacheWrite: 2_500_000n };

function catalog(): Catalog {
  const routes = model.routes.map((route) => ({
    ...route,
    prices: { ...prices, tiers: [{ ...dearer, aboveInputTokens: 200_000 }] },
  }));
  return { version: "v", models: new Map([[model.id, { ...model, routes }]]), providers: new Map() };
}

describe.each(oneDatabase)("the pages of requests on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  const browsers: Record<"member" | "auditor" | "admin" | "operator", Browser> = Object.create(null);
  const ids: Record<"tiered" | "failed" | "other" | "stored", string> = Object.create(null);

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    world.control.parts.models = { ...world.control.parts.models, catalog };
    const workspace = await world.control.workspace("acme", "10");
    for (const role of ["member", "auditor", "admin"] as const) browsers[role] = await world.signIn(`${role}@acme`);
    browsers.operator = await world.signIn(null);
    const mine = (await world.control.key("acme", { name: "<i>mine</i>" })).id;
    const theirs = (await world.control.key("acme", { name: "theirs", owner: "admin@acme" })).id;
    const usage = {
      promptTokens: 250_000,
      cachedTokens: 50_001,
      cacheWriteTokens: 0,
      completionTokens: 1_001,
      reasoningTokens: 1_000,
    };
    const asText = ({ input, output, cacheRead, cacheWrite }: typeof prices) => ({
      input: `${input}`,
      output: `${output}`,
      cacheRead: `${cacheRead}`,
      cacheWrite: `${cacheWrite}`,
    });
    const noon = Date.UTC(2026, 10, 20, 11);
    const settled = {
      tiered: settlement({
        workspace,
        key: mine,
        admittedAt: noon,
        model: model.id,
        provider: "stub",
        prices: asText(dearer),
        tierAboveTokens: 200_000,
        usage,
        reserved: "500000000",
        streamed: true,
      }),
      failed: settlement({
        workspace,
        key: mine,
        admittedAt: noon + 1,
        model: "‮evil",
        provider: "stub",
        status: 504,
        code: "upstream_timeout",
        firstTokenMs: null,
        routing: {
          requested: "acme/first",
          attempts: [{ provider: "stub", model: "acme/first", own_key: false, code: "upstream_timeout", ms: 60_000 }],
        },
      }),
      other: settlement({ workspace, key: theirs, admittedAt: noon + 2 }),
      stored: settlement({
        workspace,
        key: mine,
        admittedAt: noon + 3,
        provider: "stub",
        ownKey: { id: "own-1", listCost: "7" },
        prices: { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" },
      }),
    };
    await book(database.sql, ...Object.values(settled));
    for (const [name, { generation }] of Object.entries(settled)) ids[name as keyof typeof ids] = generation;
    await world.control.expect("PATCH", "/workspaces/acme", { body: { prompt_storage: true } });
    const image = { type: "image_url", image_url: { url: "https://example.com/secret.png" } };
    const messages = [{ role: "user", content: [{ type: "text", text: prompt }, image] }];
    const answer = { role: "assistant", content: "An answer", tool_calls: null };
    await storePrompt({ workspace, generation: ids.stored, messages, answer, answerCut: true }, world.control);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  /** Which of the requests a page lists, by their names. */
  const listed = async (query: string, browser = browsers.admin) => {
    const { text, status } = await world.get(`${path}${query}`, browser);
    expect(status).toBe(200);
    return Object.entries(ids).flatMap(([name, id]) => (text.includes(`/requests/${id}"`) ? [name] : []));
  };

  test("a filter shows the requests that fit it", async () => {
    expect(await listed("")).toEqual(["tiered", "failed", "other", "stored"]);
    expect(await listed("?status=error")).toEqual(["failed"]);
    expect(await listed("?status=ok&model=acme/tiered")).toEqual(["tiered"]);
    expect(await listed("?code=upstream_timeout")).toEqual(["failed"]);
    expect(await listed("?member=admin@acme")).toEqual(["other"]);
    expect(await listed("?from=2026-11-20&to=2026-11-20")).toHaveLength(4);
    expect(await listed("?from=2026-11-20&to=2026-11-20&tz=Pacific/Kiritimati")).toEqual([]);
    expect(await listed(`?before=${ids.other}`)).toEqual(["tiered", "failed"]);
  });

  test("the columns are chosen in the address, the member among them, and filters and further pages keep them", async () => {
    const headsOf = (text: string) =>
      [...text.matchAll(/<th role="columnheader"[^>]*>(?:<a [^>]*>)?([^<]*)/g)].map(([, head]) => head);
    const usual = (await world.get(path, browsers.admin)).text;
    expect(usual).toContain('<a href="/reference/control-inference">API&#160;reference</a>');
    expect(headsOf(usual).slice(0, 5)).toEqual(["Time", "Status", "Model", "Key", "Tokens in"]);
    expect(headsOf((await world.get(`${path}?columns=time,member`, browsers.admin)).text)).toEqual(["Time", "Member"]);
    expect(headsOf((await world.get(`${path}?columns=time,member`, browsers.member)).text)).not.toContain("Member");
    const { text } = await world.get(`${path}?columns=time,cost,provider&sort=-cost`, browsers.admin);
    expect(headsOf(text)).toEqual(["Time", "Cost", "Provider"]);
    expect(text).toContain("There are too many rows to sort: they are newest first.");
    expect(text).toContain('<input type="hidden" name="columns" value="time,cost,provider" />');
    expect(text).toContain(`href="${path}?columns=time%2Ccost%2Cprovider&#38;sort=-cost&#38;status=refused"`);
    expect(await listed("?columns=time&member=admin@acme")).toEqual(["other"]);
  });

  test("a page without rows says why, and a wrong day is refused by name", async () => {
    expect((await world.get(`${path}?model=none`, browsers.admin)).text).toContain("No request matches these filters");
    expect((await world.get(`${path}?endpoint=responses`, browsers.admin)).text).toContain("No request matches these filters");
    expect((await world.get(`${path}?endpoint=chat`, browsers.admin)).text).not.toContain("No request matches these filters");
    const empty = await world.control.workspace("empty");
    const nothing = (await world.get(`/console/w/${empty}/requests`, browsers.operator)).text;
    // There is nothing to filter.
    expect([nothing.includes("No requests yet"), nothing.includes('id="filter-key"')]).toEqual([true, false]);
    const refused = await world.get(`${path}?from=yesterday%3Cb%3E`, browsers.admin);
    expect([refused.status, refused.text.includes("yesterday&#60;b&#62;")]).toEqual([400, true]);
  });

  test("a request's page shows the computation of its charge, to the last digit", async () => {
    const { text } = await world.get(`${path}/${ids.tiered}`, browsers.member);
    const shown = ["199,999", "0.499997500000", "50,001", "0.012500250000", "1,001", "0.020020000000", "0.532517750000"];
    for (const words of [...shown, "more than 200,000 tokens", "0.500000000 USD", "0.032517750 USD", "1,000 of them reasoning"])
      expect(text).toContain(words);
    expect(text).toContain("&#60;i&#62;mine&#60;/i&#62;");
  });

  test("a request's page has the address for colleagues, which opens for those whom it names, and no one else", async () => {
    const { text } = await world.get(`${path}/${ids.tiered}`, browsers.member);
    const [, shared = ""] = /id="share-link"[^>]* value="https:\/\/weir\.example\.com([^"]*)"/.exec(text) ?? [];
    expect(shared).toMatch(new RegExp(`^/console/w/ws-\\w+/requests/${ids.tiered}$`));
    expect(text).toContain("The admins and auditors of <bdi>acme</bdi> can open it, and <bdi>member@acme</bdi>, who sent it");
    for (const role of ["member", "auditor", "admin", "operator"] as const)
      expect([role, (await world.get(shared, browsers[role])).status]).toEqual([role, 200]);
    await world.control.expect("POST", "/members", { body: { workspace: "acme", email: "other@acme", role: "member" } });
    expect((await world.get(shared, await world.signIn("other@acme"))).status).toBe(404);
    const signedOut = await world.get(shared);
    expect([signedOut.status, signedOut.headers.get("location")]).toEqual([
      303,
      `/console/sign-in?next=${encodeURIComponent(shared)}`,
    ]);
  });

  test("a failed request's page shows the calls of providers, and no text or charge that it did not have", async () => {
    const { text } = await world.get(`${path}/${ids.failed}`, browsers.admin);
    for (const words of [
      "504 upstream_timeout",
      "there was no text",
      "Calls of providers",
      "60.0 s",
      "Model asked for",
      "current prices do not give this cost",
    ])
      expect(text).toContain(words);
    expect(text).toContain("<bdi>‮evil</bdi>");
    expect(text).not.toContain("X-Route");
    expect((await world.get(`${path}/${ids.stored}`, browsers.admin)).text).toContain("the provider bills its own key");
  });

  test("the file of the requests also has the price tier, the reserved amount, whether it was estimated, and the requested model", async () => {
    const { text } = await world.get(`${path}?as=csv`, browsers.admin);
    const [names = [], ...rows] = text
      .trimEnd()
      .split("\r\n")
      .map((line) => line.split(","));
    const columns = ["tier_above_tokens", "reserved_usd", "usage_estimated", "requested_model"];
    const cellsOf = (id: string) => columns.map((name) => rows.find((row) => row.includes(id))?.[names.indexOf(name)]);
    expect(cellsOf(ids.tiered)).toEqual(["200000", "0.500000000", "false", ""]);
    expect(cellsOf(ids.failed)).toEqual(["", "0.001000000", "false", "acme/first"]);
  });

  describe("a stored prompt", () => {
    const show = (browser: Browser, id = ids.stored) => world.post(`${path}/${id}`, { action: "prompt" }, browser);
    const views = async () => (await world.control.list(`/audit?workspace=acme&event=prompt.shown`)).map(({ actor }) => actor);

    test("is not in a page until an admin asks for it, and each view is audited in their name", async () => {
      const before = (await views()).length;
      const page = await world.get(`${path}/${ids.stored}`, browsers.admin);
      expect(page.text).not.toContain("An answer");
      expect(page.text).toContain("record that I did");
      const shown = await show(browsers.admin);
      expect([shown.status, shown.headers.get("cache-control")]).toEqual([200, "no-store"]);
      expect(shown.text).toContain("My &#60;script&#62;alert(1)&#60;/script&#62; prompt");
      for (const words of ["An answer", "[image_url]", "too long to be stored in full"]) expect(shown.text).toContain(words);
      expect(shown.text).not.toContain("secret.png");
      expect(await views()).toHaveLength(before + 1);
    });

    test("takes a sign-in of the last hour", async () => {
      const early = await world.signIn("admin@acme");
      world.control.clock.advance(3_600_001);
      const before = (await views()).length;
      expect((await world.get(`${path}/${ids.stored}`, early)).text).toContain("To read or delete them, sign in again");
      const refused = await show(early);
      expect([refused.status, refused.text.includes("Sign in again")]).toEqual([401, true]);
      expect(await views()).toHaveLength(before);
      // So does deleting it, on the wire.
      const headers = { cookie: `weir=${early.token}`, host: "localhost", "sec-fetch-site": "same-origin" };
      const deletion = { body: { id: ids.stored }, token: null, headers: { ...headers, "content-type": "application/json" } };
      expect(await world.control.refusal("POST", "/prompts/delete", deletion)).toBe("401 sign_in_again null");
    });

    test("is deleted by an admin who is asked once more, and audited in their name", async () => {
      const workspace = String((await world.control.expect("GET", "/workspaces/acme"))["id"]);
      const doomed = settlement({ workspace, key: (await world.control.key("acme")).id });
      await book(database.sql, doomed);
      await storePrompt(doomed, world.control);
      const [page, question] = [`${path}/${doomed.generation}`, `${path}/${doomed.generation}/delete-prompt`];
      const send = (browser: Browser) => world.post(question, { action: "delete-prompt" }, browser);
      for (const role of ["member", "auditor"]) {
        const browser = await world.signIn(`${role}@acme`);
        expect((await world.get(page, browser)).text).not.toContain(question);
        expect([(await world.get(question, browser)).status, (await send(browser)).status]).toEqual([403, 403]);
      }
      const early = await world.signIn("admin@acme");
      world.control.clock.advance(3_600_001);
      expect((await world.get(question, early)).text).toContain("To delete it, sign in again");
      expect((await send(early)).status).toBe(401);
      const admin = await world.signIn("admin@acme");
      expect((await world.get(page, admin)).text).toContain(`href="${question}" data-opens="delete-prompt"`);
      expect((await world.get(question, admin)).text).toContain("cannot be undone");
      const done = await send(admin);
      expect([done.status, done.headers.get("location")]).toEqual([303, page]);
      expect((await world.get(page, admin)).text).toContain("No prompt is stored");
      expect((await send(admin)).status).toBe(404);
      const rows = await world.control.list("/audit?workspace=acme&event=prompt.deleted");
      expect(rows).toMatchObject([{ actor: "admin@acme", carried_by: "session", target: doomed.generation }]);
    });

    test("is offered where one is stored alone", async () => {
      expect((await world.get(`${path}/${ids.tiered}`, browsers.admin)).text).toContain("No prompt is stored");
      expect((await show(await world.signIn("admin@acme"), ids.tiered)).status).toBe(404);
    });
  });
});
