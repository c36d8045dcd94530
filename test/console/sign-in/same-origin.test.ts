/** Which requests a session's cookie opens, and which it does not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { recentSignInMs } from "../../../src/accounts/limits.ts";
import { ConsoleWorld, type Browser } from "../../support/console.ts";
import { operatorToken } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(oneDatabase)("a session on $name", ({ open }) => {
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

  const end = { action: "end", session: "ses-0" };

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["another host of the same site", { "sec-fetch-site": "same-site" }],
    ["another origin, by an older browser", { "sec-fetch-site": "", origin: "https://evil.example" }],
    ["no origin at all", { "sec-fetch-site": "" }],
    ["the origin null", { "sec-fetch-site": "", origin: "null" }],
  ])("a form of %s is refused", async (_, headers) => {
    const sent = new Headers({ host: "localhost", cookie: `weir=${browser.token}`, ...headers });
    if (sent.get("sec-fetch-site") === "") sent.delete("sec-fetch-site");
    const body = new URLSearchParams({ ...end });
    const answer = await world.send(new Request("http://localhost/console/account", { method: "POST", headers: sent, body }));
    expect([answer.status, answer.text.includes("own pages can")]).toEqual([403, true]);
  });

  test("a form of an older browser on this host is taken", async () => {
    const sent = new Headers({ host: "localhost", cookie: `weir=${browser.token}`, origin: "http://localhost" });
    const body = new URLSearchParams({ ...end, form_token: "" });
    const answer = await world.send(new Request("http://localhost/console/account", { method: "POST", headers: sent, body }));
    expect(answer.text).toContain("The form is from another session");
  });

  test("behind a proxy that hides the browser's host nobody signs in, since the cookie would go without TLS", async () => {
    const headers = { host: "127.0.0.1:8080", origin: "https://weir.example.com" };
    const answer = await world.post("/console/sign-in", { operator_token: operatorToken }, undefined, headers);
    expect([answer.status, answer.text.includes("pass on the header Host")]).toEqual([403, true]);
  });

  test("a form without a token, or with that of another session, changes nothing and says so", async () => {
    const other = await world.signIn("admin@acme");
    const { formToken } = await import("../../../src/accounts/sessions/browser.ts");
    for (const form_token of ["", "wrong", formToken(other.token)]) {
      const answer = await world.post("/console/account", { ...end, form_token }, browser);
      expect([answer.status, answer.text.includes("The form is from another session")]).toEqual([403, true]);
    }
  });

  test("a form whose session has ended changes nothing, and a page leads to the sign-in and back", async () => {
    const lost = { token: "x".repeat(43) };
    const form = await world.post("/console/account", end, lost);
    expect([form.status, form.text.includes("nothing was changed")]).toEqual([401, true]);
    const page = await world.get("/console/w/acme/keys?tab=revoked", lost);
    expect([page.status, page.headers.get("location")]).toEqual([
      303,
      "/console/sign-in?next=%2Fconsole%2Fw%2Facme%2Fkeys%3Ftab%3Drevoked",
    ]);
  });

  test.each(["//evil.example", "https://evil.example", "/console//evil.example", "/console/../x\\evil", "javascript:alert(1)"])(
    "after signing in nobody is led to %s",
    async (next) => {
      const answer = await world.get(`/console/sign-in?next=${encodeURIComponent(next)}`, browser);
      expect(answer.headers.get("location")).toBe("/console");
    },
  );

  test("a session opens the control API with the member's role", async () => {
    const call = (method: string, path: string, headers: Record<string, string>, body?: unknown) =>
      world.control.call(method, path, {
        token: null,
        body,
        headers: { host: "localhost", cookie: `weir=${browser.token}`, ...headers },
      });
    const own = { "sec-fetch-site": "same-origin", "content-type": "application/json" };
    expect((await call("GET", "/members?workspace=acme", {})).status).toBe(200);
    const settings = { fallbacks: false };
    expect((await call("PATCH", "/workspaces/acme", own, settings)).status).toBeLessThan(300);
    expect((await call("POST", "/workspaces", own, { name: "other" })).status).toBe(403);
    expect((await call("PATCH", "/workspaces/acme", { ...own, "sec-fetch-site": "cross-site" }, settings)).status).toBe(403);
    expect((await call("PATCH", "/workspaces/acme", { ...own, "content-type": "text/plain" }, settings)).status).toBe(403);
    expect((await call("GET", "/members?workspace=acme", { cookie: `weir=${"x".repeat(43)}` })).status).toBe(401);
  });

  test("no key and no operator token in a header opens a page", async () => {
    const { key } = await world.control.key("acme");
    for (const token of [key, operatorToken]) {
      const answer = await world.get("/console/account", undefined, { authorization: `Bearer ${token}` });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/console/sign-in?next=%2Fconsole%2Faccount"]);
    }
  });

  test("a password is set only after a recent sign-in", async () => {
    const left = await world.signIn("super_admin@acme");
    world.control.clock.advance(recentSignInMs);
    const answer = await world.post("/console/account", { action: "password", password: "violet harbour engine 47" }, left);
    expect([answer.status, answer.text.includes("Sign in again")]).toEqual([401, true]);
  });

  test("a workspace in which the viewer is no member is as unknown as one that does not exist", async () => {
    await world.control.workspace("other");
    const [other, none] = [await world.get("/console/w/other/keys", browser), await world.get("/console/w/none/keys", browser)];
    expect([other.status, none.status]).toEqual([404, 404]);
  });
});
