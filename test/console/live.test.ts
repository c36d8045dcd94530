/** What makes the Console quick and live: little is sent twice, and nothing that is sent tells a stranger anything. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { letters } from "../../src/console/look/frame.ts";
import { pages } from "../../src/console/pages.ts";
import { RefusedCalls } from "../../src/gateway/refusals/refused-calls.ts";
import { silentLog } from "../../src/kernel/log.ts";
import { insertTicket } from "../../src/security/tickets/store.ts";
import { addProviders } from "../support/own-key-providers.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { book, settlement } from "../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

test("each letter after g names a page of the menu, and no two pages share one", () => {
  const labels = pages.flatMap(({ navigation }) => navigation?.label ?? []);
  expect(Object.keys(letters).toSorted()).toEqual(labels.toSorted());
  expect(new Set(Object.values(letters)).size).toBe(labels.length);
});

describe.each(oneDatabase)("pages on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let browser: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "10");
    browser = await world.signIn("admin@acme");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  describe("what is sent", () => {
    const own = { "accept-encoding": "gzip", "sec-fetch-site": "none" };

    test("is compressed for the reader who asked for it, and not for a page of another site", async () => {
      const path = "/console/w/acme/requests";
      expect((await world.get(path, browser, own)).headers.get("content-encoding")).toBe("gzip");
      for (const site of ["cross-site", "same-site"]) {
        const { status, headers } = await world.get(path, browser, { ...own, "sec-fetch-site": site });
        expect([status, headers.get("content-encoding")]).toEqual([200, null]);
      }
    });

    test("has another token for its forms each time, and each of them is taken", async () => {
      const tokens = await Promise.all(
        [1, 2].map(async () => {
          const { text } = await world.get("/console/w/acme/settings", browser);
          return /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? "";
        }),
      );
      expect(new Set(tokens).size).toBe(2);
      for (const form_token of tokens) {
        // Taken: what is refused is the name of the form.
        const { status, text } = await world.post("/console/w/acme/settings", { form_token, action: "none" }, browser);
        expect([status, text.includes("This page has no such form")]).toEqual([404, true]);
      }
    });
  });

  describe("the theme", () => {
    const chosen = async (to: string, headers: Record<string, string> = {}) =>
      world.post(`/console/theme?to=${to}`, {}, browser, headers);

    test("is kept in the browser, leads back to the page, and comes with each page from then on", async () => {
      const { status, headers } = await chosen("dark", { referer: "http://localhost/console/w/acme/requests?status=ok" });
      expect([status, headers.get("location")]).toEqual([303, "/console/w/acme/requests?status=ok"]);
      expect(headers.get("set-cookie")).toStartWith("weir-theme=dark; HttpOnly; SameSite=Lax; Path=/; Max-Age=31536000");
      const cookie = `weir=${browser.token}; weir-theme=dark`;
      for (const path of ["/console/w/acme", "/console/w/acme/none", "/console/sign-in?again=yes"]) {
        const { text } = await world.get(path, browser, { cookie });
        expect([path, text.includes('<html lang="en" data-theme="dark">')]).toEqual([path, true]);
        expect(text).toContain('<meta name="color-scheme" content="dark" />');
      }
      expect((await world.get("/console/w/acme", browser, { cookie })).text).toContain("Theme: dark. Change to system");
    });

    test("without a choice is the system's, and so it is with a cookie that nobody's page has set", async () => {
      for (const value of ["purple", '"><script>']) {
        const { text } = await world.get("/console/w/acme", browser, { cookie: `weir=${browser.token}; weir-theme=${value}` });
        expect([text.includes('<html lang="en">'), text.includes("Theme: system. Change to light")]).toEqual([true, true]);
      }
    });

    test("is one of three, is chosen by this service's pages alone, and leads nowhere else", async () => {
      expect((await chosen("purple")).status).toBe(400);
      expect((await chosen("dark", { "sec-fetch-site": "cross-site" })).status).toBe(403);
      for (const referer of ["https://evil.example/x", "http://localhost//evil.example", "javascript:alert(1)"])
        expect((await chosen("light", { referer })).headers.get("location")).toBe("/console");
    });
  });

  describe("the search", () => {
    const found = async (q: string, by = browser, base = "/console/w/acme"): Promise<Record<string, string[]>> => {
      const { text } = await world.get(`${base}/find?q=${encodeURIComponent(q)}`, by);
      const lists = [...text.matchAll(/data-found="([^"]+)">([^]*?)<\/ul>/g)];
      return Object.fromEntries(lists.map(([, label = "", items = ""]) => [label, hrefs(items)]));
    };
    const hrefs = (html: string): string[] => [...html.matchAll(/href="([^"]+)"/g)].map(([, path = ""]) => path);
    let key: { id: string; key: string };
    beforeAll(async () => {
      key = await world.control.key("acme", { name: "Production \u202e<b>" });
    });

    test("finds a key by a part of its name, its owner, its id and its last four characters", async () => {
      const path = `/console/w/acme/keys/${key.id}`;
      for (const q of ["productio", "MEMBER@acm", key.id, key.key.slice(-4)])
        expect([q, (await found(q))["Keys"]]).toEqual([q, [path]]);
    });

    test("never shows a pasted key again, and finds it by its end", async () => {
      const { text } = await world.get(`/console/w/acme/find?q=${key.key}`, browser);
      expect(text).not.toContain(key.key);
      expect(text).toContain(`/console/w/acme/keys/${key.id}`);
    });

    test("finds members, and an advisory's name as it is", async () => {
      expect((await found("auditor@"))["Members"]).toEqual(["/console/w/acme/members/auditor%40acme"]);
      expect(await found("CVE-2021-44228")).toEqual({ Vulnerabilities: ["/console/w/acme/vulnerabilities/CVE-2021-44228"] });
      expect(await found(`gen-${"2".repeat(26)}`)).toEqual({});
    });

    test("finds the request of a pasted id, also one that was refused, for those who may see it", async () => {
      const workspace = String((await world.control.expect("GET", "/workspaces/acme"))["id"]);
      const others = (await world.control.key("acme", { owner: "admin@acme" })).id;
      const [own, other] = [key.id, others].map((of) => settlement({ workspace, key: of }));
      if (own === undefined || other === undefined) throw new Error("There are two requests");
      await book(database.sql, own, other);
      const calls = new RefusedCalls({ sql: database.sql, clock: world.control.clock, log: silentLog });
      const about = { endpoint: "chat", model: null, message: "Too many", param: null, retryAfterMs: null } as const;
      calls.note({ workspace, key: others, code: "rate_limited", status: 429, ...about });
      await calls.flushed(10_000);
      const [row] = await world.control.list("/refusals?workspace=acme");
      const refused = String(row?.["request_id"]);
      const base = "/console/w/acme/requests";
      expect(await found(own.request)).toEqual({ Requests: [`${base}/${own.generation}`] });
      expect(await found(own.generation)).toEqual({ Requests: [`${base}/${own.generation}`] });
      expect(await found(refused)).toEqual({ Requests: [`${base}/refused/${refused}`] });
      const member = await world.signIn("member@acme");
      expect(await found(own.request, member)).toEqual({ Requests: [`${base}/${own.generation}`] });
      for (const id of [other.request, refused, `req-${"2".repeat(26)}`]) expect([id, await found(id, member)]).toEqual([id, {}]);
      await world.control.workspace("elsewhere", "1");
      expect(await found(own.request, await world.signIn("admin@elsewhere"), "/console/w/elsewhere")).toEqual({});
      const asOperator = await found(own.request, await world.signIn(null), "/console/operator");
      expect(asOperator).toEqual({ Requests: [`/console/w/${workspace}/requests/${own.generation}`] });
    });

    test("finds products by name, and tickets by number and subject, a member's own alone", async () => {
      const workspace = String((await world.control.expect("GET", "/workspaces/acme"))["id"]);
      const body = { workspace: "acme", name: "Billing Suite" };
      const product = String((await world.control.expect("POST", "/products", { body }))["id"]);
      for (const q of ["billing s", product])
        expect([q, (await found(q))["Products"]]).toEqual([q, [`/console/w/acme/products/${product}`]]);
      const ticket = { id: `tkt_${"a".repeat(26)}`, reference: "BUG-7K2M9QXD", type: "bug", subject: "Cannot export" } as const;
      const logged = { ...ticket, workspace, owner: "admin@acme", details: {}, fingerprint: "00".repeat(32), at: new Date() };
      await database.sql.begin((tx) => insertTicket(logged, tx));
      for (const q of ["bug-7k2m9qxd", "export", ticket.id]) {
        expect([q, await found(q)]).toEqual([q, { Tickets: [`/console/w/acme/tickets/${ticket.id}`] }]);
        expect([q, await found(q, await world.signIn("member@acme"))]).toEqual([q, {}]);
      }
    });

    test("finds a saved view by its name for its member, and what is known by its id alone", async () => {
      const view = { workspace: "acme", list: "keys", name: "Dear ones", query: "sort=-spent" };
      await world.control.expect("POST", "/views", { body: view, as: "admin@acme" });
      const admin = await world.signIn("admin@acme");
      expect((await found("dear", admin))["Views"]).toEqual(["/console/w/acme/keys?sort=-spent"]);
      expect((await found("dear", await world.signIn("auditor@acme")))["Views"]).toBeUndefined();
      for (const [prefix, label, page] of [
        ["fnd_", "Findings", "findings"],
        ["own-", "Provider keys", "provider-keys"],
        ["top-", "Payments", "top-ups"],
        ["rule-", "Alerts", "alerts/rules"],
        ["hook-", "Webhooks", "alerts/webhooks"],
      ] as const) {
        const id = prefix + "2".repeat(26);
        expect([id, await found(id, admin)]).toEqual([id, { [label]: [`/console/w/acme/${page}/${id}`] }]);
      }
    });

    test("finds workspaces, providers and keys on the operator's pages, which lead there", async () => {
      addProviders(world.control.parts);
      const operator = await world.signIn(null);
      expect((await world.get("/console/operator", operator)).text).toContain('href="/console/operator/find" data-palette');
      const ask = (q: string) => found(q, operator, "/console/operator");
      const id = String((await world.control.expect("GET", "/workspaces/acme"))["id"]);
      for (const q of ["ACM", id]) expect([q, (await ask(q))["Workspaces"]]).toEqual([q, [`/console/operator/workspaces/${id}`]]);
      expect((await ask("alph"))["Providers"]).toEqual(["/console/operator/providers/alpha"]);
      expect((await ask("productio"))["Keys"]).toEqual([`/console/w/${id}/keys/${key.id}`]);
      expect((await ask("create a w"))["Actions"]).toEqual(["/console/operator/workspaces/new"]);
      expect((await world.get("/console/operator/find?q=acme", browser)).status).toBe(403);
    });

    test("finds for each role what it may see and do", async () => {
      const acts = async (role: string) => (await found("", await world.signIn(`${role}@acme`)))["Actions"] ?? [];
      expect(await acts("admin")).toContain("/console/w/acme/members/new");
      expect(await acts("member")).not.toContain("/console/w/acme/members/new");
      expect(await acts("auditor")).not.toContain("/console/w/acme/keys/new");
      const other = await world.control.key("acme", { name: "Payroll", owner: "admin@acme" });
      expect((await found("payroll", await world.signIn("member@acme")))["Keys"]).toBeUndefined();
      expect((await found(other.id, await world.signIn("member@acme")))["Keys"]).toBeUndefined();
      expect((await found("payroll"))["Keys"]).toEqual([`/console/w/acme/keys/${other.id}`]);
    });

    test("shows what was typed as text, and says when nothing has the name", async () => {
      const { status, text } = await world.get(
        `/console/w/acme/find?q=${encodeURIComponent('"><img src=x>'.repeat(20))}`,
        browser,
      );
      expect([status, text.includes("<img"), text.includes("Nothing here is called")]).toEqual([200, false, true]);
    });
  });

  describe("a page that refreshes itself", () => {
    const requests = "/console/w/acme/requests";
    const tagOf = async (path: string, by = browser): Promise<string | null> => (await world.get(path, by)).headers.get("etag");
    const poll = (path: string, tag: string, by = browser) => world.get(path, by, { "if-none-match": tag });
    let key: { id: string };
    let workspace = "";
    beforeAll(async () => {
      key = await world.control.key("acme", { name: "live" });
      workspace = String((await world.control.expect("GET", "/workspaces/acme"))["id"]);
    });
    const request = (at = world.control.clock.now()) => settlement({ workspace, key: key.id, admittedAt: at });

    test.each([requests, "/console/w/acme", `${requests}?status=ok`])(
      "%s says nothing until a request has ended",
      async (path) => {
        const tag = (await tagOf(path)) ?? "";
        const { status, text, headers } = await poll(path, tag);
        expect([status, text, headers.get("etag"), headers.get("cache-control")]).toEqual([304, "", tag, "no-store"]);
        const ended = request();
        await book(database.sql, ended);
        const fresh = await poll(path, tag);
        expect([fresh.status, fresh.headers.get("etag") === tag, fresh.text.includes("data-refresh=")]).toEqual([
          200,
          false,
          true,
        ]);
        expect(fresh.text).toContain(ended.generation);
        expect((await poll(path, fresh.headers.get("etag") ?? "")).status).toBe(304);
      },
    );

    test("shows a request that was accepted before others and ends after them", async () => {
      const early = request(world.control.clock.now() - 20_000);
      const tag = (await tagOf(requests)) ?? "";
      await book(database.sql, early);
      expect((await poll(requests, tag)).status).toBe(200);
    });

    test("asks anew each minute, since people change things, too", async () => {
      const tag = (await tagOf(requests)) ?? "";
      world.control.clock.advance(60_000);
      expect((await poll(requests, tag)).status).toBe(200);
    });

    test("has a tag of its reader's own, and older pages, other pages and refused ones have none", async () => {
      const member = await world.signIn("member@acme");
      expect(await tagOf(requests, member)).not.toBe(await tagOf(requests));
      expect((await poll(requests, (await tagOf(requests)) ?? "", member)).status).toBe(200);
      for (const path of [`${requests}?before=${request().generation}`, "/console/w/acme/keys", "/console/w/acme/none"])
        expect([path, await tagOf(path)]).toEqual([path, null]);
      expect((await poll("/console/w/acme/keys", '"1"')).status).toBe(200);
    });

    test("does not keep a session from ending, and leads to the sign-in then", async () => {
      const left = await world.signIn("admin@acme");
      for (let hour = 0; hour < 11; hour++) {
        world.control.clock.advance(3_600_000);
        expect((await poll(requests, '"1"', left)).status).toBe(200);
      }
      world.control.clock.advance(3_600_000);
      const { status, headers } = await poll(requests, '"1"', left);
      expect([status, headers.get("location")]).toEqual([303, `/console/sign-in?next=${encodeURIComponent(requests)}`]);
    });

    test("shows nothing to someone who left the workspace", async () => {
      const gone = await world.signIn("auditor@acme");
      const tag = (await tagOf(requests, gone)) ?? "";
      await world.control.expect("POST", "/members/auditor@acme/deactivate", { body: { workspace: "acme" } });
      expect((await poll(requests, tag, gone)).status).toBe(404);
    });
  });
});
