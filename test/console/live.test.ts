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
});
