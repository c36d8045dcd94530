/** The pages of connections: saving tests at once, what needs attention comes first, and no page holds a secret. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ProbeAnswer } from "../../src/connectors/connections/probe.ts";
import { publishVendors } from "../connectors/connections/vendors.ts";
import { ConsoleWorld, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the pages of connections on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let admin: Browser;
  let vendor: ProbeAnswer = { status: 200, body: "[]" };
  const secret = "canary-of-the-console";
  const at = (path: string) => `/console/w/acme${path}`;

  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    world.control.connectors.published = await publishVendors(database.sql);
    world.control.probeFetch = async () => vendor;
    await world.control.workspace("acme");
    await world.control.workspace("other");
    admin = await world.signIn("admin@acme");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const connect = (fields: Record<string, string> = {}, browser = admin) =>
    world.post(
      at("/connections/new/okta"),
      { action: "connect", credential_set: "0", okta_domain: "acme.okta.com", api_token: secret, ...fields },
      browser,
    );
  const saved = async (fields?: Record<string, string>) =>
    ((await connect(fields)).headers.get("location") ?? "").replace("/console/w/acme", "");

  test("a vendor is found by name, and its form has the fields of the catalog", async () => {
    const found = await world.get(at("/connections/new?q=okt"), admin);
    expect(found.text).toContain(`href="${at("/connections/new/okta")}"`);
    const form = await world.get(at("/connections/new/okta"), admin);
    expect(form.text).toContain('type="password" value="" maxlength="4096" autocomplete="off"');
    expect(form.text).toContain(`href="${at("/connections/new/okta?set=1")}"`);
    expect((await world.get(at("/connections/new/none"), admin)).text).toContain(
      "There is no connector “none”".replaceAll(/[“”]/g, "&#34;"),
    );
  });

  test("saving tests at once, and what failed comes first in the list and says why", async () => {
    vendor = { status: 200, body: "[]" };
    const right = await saved();
    vendor = { status: 401, body: "" };
    const wrong = await saved();
    expect((await world.get(at(right), admin)).text).toContain("The vendor accepted the credentials");
    const told = (await connect()).headers.get("set-cookie") ?? "";
    const cookie = `weir=${admin.token}; ${told.split(";")[0]}`;
    expect((await world.get(at(wrong), admin, { cookie })).text).toMatch(/class="notice warn"[^>]*>.*The test failed/);
    const { text } = await world.get(at("/connections"), admin);
    expect(text.indexOf(wrong)).toBeLessThan(text.indexOf(right));
    expect(text).toContain("The vendor refused the credentials");
    expect(text).not.toContain(secret);
    const home = (await world.get("/console/w/acme", admin)).text;
    expect([home.includes("Connections that need attention"), home.includes(wrong), home.includes(right)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("new credentials take the last test away, and a test brings one", async () => {
    const path = await saved();
    const fields = { action: "replace", okta_domain: "acme.okta.com", api_token: "another" };
    expect((await world.post(at(path), fields, admin)).status).toBe(303);
    expect((await world.get(at(path), admin)).text).toContain("These credentials have not been tested yet");
    vendor = { status: 200, body: "[]" };
    await world.post(at(path), { action: "test" }, admin);
    const [row] = await world.control.list("/connections?workspace=acme");
    expect((await world.get(at(path), admin)).text).toContain("The vendor accepted the credentials");
    expect(row).toMatchObject({
      testable: true,
      last_test: { outcome: expect.any(String), tested_at: expect.stringMatching(/Z$/) },
    });
  });

  test("a connection has a name of its own, which is changed on its page and recorded", async () => {
    vendor = { status: 200, body: "[]" };
    const path = await saved({ "name-of-the-connection": "Main <b>account</b>" });
    const listed = (await world.get(at("/connections"), admin)).text;
    expect(listed).toContain("Main &#60;b&#62;account&#60;/b&#62;");
    expect(listed).toContain('<span class="under">Okta</span>');
    expect((await world.post(at(path), { action: "rename", name: "Sandbox" }, admin)).status).toBe(303);
    expect((await world.get(at(path), admin)).text).toContain("<h1><bdi>Sandbox</bdi>");
    await world.post(at(path), { action: "rename", name: "Sandbox" }, admin);
    const renamed = await world.control.list("/audit?event=connection.renamed");
    expect(renamed).toMatchObject([{ changes: { name: { from: "Main <b>account</b>", to: "Sandbox" } } }]);
    const refused = await world.post(at(path), { action: "rename", name: "x".repeat(201) }, admin);
    expect([refused.status, refused.text.includes('id="rename-name-problem"')]).toEqual([400, true]);
    await world.post(at(path), { action: "delete" }, admin);
  });

  test("a refused field is named beside it, and the page does not give back the secret", async () => {
    const refused = await connect({ okta_domain: "" });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('id="connect-okta_domain-problem"');
    const kept = await connect({ okta_domain: "acme.okta.com", api_token: `${secret}\u0007` });
    expect([kept.status, kept.text.includes('value="acme.okta.com"'), kept.text.includes(secret)]).toEqual([400, true, false]);
  });

  test("a connection is deleted after a page that names it, and then it is unknown", async () => {
    const path = await saved();
    expect((await world.get(at(`${path}/delete`), admin)).text).toContain("This cannot be undone");
    expect((await world.post(at(`${path}/delete`), { action: "delete" }, admin)).headers.get("location")).toBe(
      at("/connections"),
    );
    expect((await world.get(at(path), admin)).status).toBe(404);
  });

  test.each(["member", "auditor"])("a %s sees connections, and no form", async (role) => {
    const shown = await world.get(at(await saved()), await world.signIn(`${role}@acme`));
    expect([shown.status, shown.text.includes("Only admins"), shown.text.includes('value="test"')]).toEqual([200, true, false]);
  });

  test("the public page's link leads an admin to the form of their workspace, and others to a word why not", async () => {
    expect((await world.get("/console/connect/okta", admin)).text).toContain(`href="${at("/connections/new/okta")}"`);
    const member = await world.signIn("member@acme");
    expect((await world.get("/console/connect/okta", member)).text).toContain("you are not an admin in any workspace");
    expect((await world.get("/console/connect/okta")).headers.get("location")).toBe(
      "/console/sign-in?next=%2Fconsole%2Fconnect%2Fokta",
    );
  });

  test("people are shown with time and source, what they lack and why readings fail, to those who manage or audit", async () => {
    const path = await saved();
    expect((await world.get(at(path), admin)).text).not.toContain("Read people");
    await world.control.expect("PATCH", "/workspaces/acme", { body: { early_access: ["people"] } });
    expect((await world.get(at(path), admin)).text).toContain("Read people");
    const row = (login: string) => ({ status: "LOCKED_OUT", profile: { login } });
    const people = Array.from({ length: 51 }, (_, index) => row(`<b>${String(index).padStart(2, "0")}@a.io`));
    world.control.callVendors = async () => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(people)) });
    const act = (action: string) => world.post(at(path), { action }, admin);
    expect((await act("read-people")).status).toBe(303);
    const { text } = await world.get(at(path), admin);
    expect(text).toContain("51 people, read");
    expect(text).toContain("<code>GET /api/v1/users</code>");
    expect([text.includes("&#60;b&#62;00@a.io"), text.includes("<b>00"), text.includes("50@a.io<")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(text).toContain("one person at a time");
    expect(text).toMatch(/people\?workspace=ws-[a-z0-9]+&#38;format=ndjson/);
    const next = /href="([^"]*after=[^"]*)" rel="next"/.exec(text)?.[1] ?? "";
    expect((await world.get(next.replaceAll("&#38;", "&"), admin)).text).toContain("50@a.io<");
    world.control.callVendors = async () => ({ status: 403, headers: {}, body: Buffer.from("{}") });
    await act("read-people");
    const failed = (await world.get(at(path), admin)).text;
    expect(failed).toContain("Readings have failed since");
    expect(failed).toContain("those of the last good one");
    const auditor = (await world.get(at(path), await world.signIn("auditor@acme"))).text;
    expect([auditor.includes("51 people"), auditor.includes("Read again")]).toEqual([true, false]);
    expect((await world.get(at(path), await world.signIn("member@acme"))).text).not.toContain("51 people");
    await act("forget-people");
    expect((await world.get(at(path), admin)).text).toContain("Read people");
  });
});
