/** What makes the Console quick and live: little is sent twice, and nothing that is sent tells a stranger anything. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("pages on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let browser: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
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
    const found = async (q: string, by = browser): Promise<Record<string, string[]>> => {
      const { text } = await world.get(`/console/w/acme/find?q=${encodeURIComponent(q)}`, by);
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

    test("finds for each role what it may see and do", async () => {
      const acts = async (role: string) => (await found("", await world.signIn(`${role}@acme`)))["Acts"] ?? [];
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
});
