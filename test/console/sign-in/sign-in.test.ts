/** Signing in to the Console: by password, link and operator token, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { signInTriesMs, sessionAgeMsMax, sessionIdleMsMax } from "../../../src/accounts/limits.ts";
import { resetPage } from "../../../src/console/sign-in/link.ts";
import { ConsoleWorld, sessionOf, type Browser } from "../../support/console.ts";
import { operatorToken } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

const password = "violet harbour engine 47";

describe.each(oneDatabase)("sign-in on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
    const browser = await world.signIn("member@acme", { way: "link" });
    const set = await world.post("/console/account", { action: "password", password }, browser);
    expect([set.status, set.headers.get("location")]).toEqual([303, "/console/account"]);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const signIn = (fields: Record<string, string>) =>
    world.post("/console/sign-in", { email: "member@acme", password, ...fields });
  const account = (browser: Browser) => world.get("/console/account", browser);
  const mails = async () => database.sql<{ recipient: string; body: string }[]>`SELECT recipient, body FROM mails ORDER BY id`;

  test("an address with its password signs in, whatever the case of its letters", async () => {
    const answer = await signIn({ email: " Member@ACME " });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/console"]);
    expect(answer.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Lax; Path=/; Max-Age=604800");
    expect((await account(sessionOf(answer))).text).toContain("member@acme");
  });

  test("beyond this machine the cookie is for TLS and this host alone", async () => {
    const answer = await world.post("/console/sign-in", { email: "member@acme", password }, undefined, {
      host: "weir.example.com",
    });
    expect(answer.headers.get("set-cookie")).toMatch(/^__Host-weir=.*; Secure$/);
  });

  test("a wrong password and an unknown address get the same answer", async () => {
    const wrong = await signIn({ password: "wrong wrong wrong wrong" });
    const unknown = await signIn({ email: "nobody@acme", password });
    const without = await signIn({ email: "admin@acme", password: "" });
    expect([wrong.status, unknown.status, without.status]).toEqual([401, 401, 401]);
    for (const { text } of [wrong, unknown, without]) expect(text).toContain("The address or the password is wrong.");
    expect(wrong.text).not.toContain("wrong wrong");
  });

  test("of 500 wrong passwords ten are compared, then the address has to wait a quarter of an hour", async () => {
    const guess = (index: number) => signIn({ email: "auditor@acme", password: `guess number ${index}` });
    const statuses: number[] = [];
    for (let index = 0; index < 500; index += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, (_, more) => guess(index + more)));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect([401, 429].map((status) => statuses.filter((one) => one === status).length)).toEqual([10, 490]);
    expect((await signIn({ email: "auditor@acme" })).text).toContain("try again in 15 minutes");
    world.control.clock.advance(signInTriesMs);
    expect((await signIn({ email: "auditor@acme" })).status).toBe(401);
  });

  test("a link signs in once, and opening it does not use it up", async () => {
    const { url } = await world.control.expect("POST", "/session-links", { body: { email: "Admin@acme" } });
    const path = String(url).replace("https://weir.example.com", "");
    expect((await world.get(path)).text).toContain("admin@acme");
    expect((await world.get(path)).status).toBe(200);
    const [first, second] = await Promise.all([world.post(path, {}), world.post(path, {})]);
    expect([first.status, second.status].toSorted()).toEqual([303, 404]);
    expect((await world.get(path)).text).toContain("This link was used, or it has expired");
  });

  test("an invitation's mail leads to a password, and nothing but the mail has its link", async () => {
    const body = { workspace: "acme", email: "new@acme", role: "member", invite: true };
    const view = await world.control.expect("POST", "/members", { body, as: "admin@acme" });
    expect(JSON.stringify(view)).not.toContain("link");
    const mail = (await mails()).at(-1);
    expect(mail?.recipient).toBe("new@acme");
    const [, path = ""] = /https:\/\/weir\.example\.com(\/console\/link\/\S+)/.exec(mail?.body ?? "") ?? [];
    const shown = (await world.get(path)).text;
    expect([shown.includes("Accept and sign in"), shown.includes("Decline")]).toEqual([true, true]);
    const answer = await world.post(path, {});
    expect(answer.headers.get("location")).toBe("/console/account?choose=password");
    expect(await world.control.list("/members?workspace=acme&email=new@acme")).toMatchObject([{ state: "active" }]);
    const chosen = await world.post("/console/account", { action: "password", password }, sessionOf(answer));
    expect(chosen.status).toBe(303);
    expect((await signIn({ email: "new@acme" })).status).toBe(303);
  });

  test("a request for a new password gets the same answer for every address, and a mail only for an account", async () => {
    const before = (await mails()).length;
    const unknown = await world.post("/console/reset", { email: "nobody@acme" });
    const known = await world.post("/console/reset", { email: "member@acme" });
    expect(known.text.replaceAll("member@acme", "")).toBe(unknown.text.replaceAll("nobody@acme", ""));
    await until(async () => (await mails()).length > before);
    expect((await mails()).slice(before).map(({ recipient }) => recipient)).toEqual(["member@acme"]);
  });

  test("the page for a new password promises a mail only where mails are sent, and says else who can create a link", async () => {
    const [promise, wait] = await Promise.all([true, false].map((sendsMail) => resetPage("ada@acme", { sendsMail }).text()));
    expect([promise?.includes("is on its way"), promise?.includes("session link")]).toEqual([true, false]);
    expect([wait?.includes("is on its way"), wait?.includes("weir -- session link --email")]).toEqual([false, true]);
  });

  test("the operator token signs in as the operator, an API key does not", async () => {
    const right = await world.post("/console/sign-in", { operator_token: operatorToken });
    expect(right.status).toBe(303);
    expect((await account(sessionOf(right))).text).toContain("operator token");
    expect((await world.post("/console/sign-in", { operator_token: "platform-api-0" })).status).toBe(401);
  });

  test.each([
    ["short", "at least 15 characters"],
    ["password1234567", "easy to guess"],
    ["member@acme-member@acme", "easy to guess"],
    ["aaaaaaaaaaaaaaaaaaaa", "easy to guess"],
    ["x".repeat(201), "at most 200 characters"],
  ])("the password %p is refused with its cause", async (given, cause) => {
    const browser = await world.signIn("member@acme");
    const { status, text } = await world.post("/console/account", { action: "password", password: given }, browser);
    expect([status, text.includes(cause)]).toEqual([400, true]);
    expect(text).not.toContain(`value="${given}"`);
  });

  test("a new password ends all other sessions and links of the person", async () => {
    const [here, elsewhere] = [await world.signIn("new@acme", { way: "link" }), await world.signIn("new@acme")];
    const { url } = await world.control.expect("POST", "/session-links", { body: { email: "new@acme" } });
    await world.post("/console/account", { action: "password", password: "copper window seldom 19" }, here);
    expect([(await account(here)).status, (await account(elsewhere)).status]).toEqual([200, 303]);
    expect((await world.get(new URL(String(url)).pathname)).status).toBe(404);
  });

  test("a session ends after twelve hours without use, and after a week in any case", async () => {
    const { clock } = world.control;
    const idle = await world.signIn("member@acme");
    clock.advance(sessionIdleMsMax);
    expect((await account(idle)).status).toBe(303);
    const used = await world.signIn("member@acme");
    for (let ms = 0; ms < sessionAgeMsMax - sessionIdleMsMax / 2; ms += sessionIdleMsMax / 2) {
      clock.advance(sessionIdleMsMax / 2);
      if (ms + sessionIdleMsMax / 2 < sessionAgeMsMax) expect((await account(used)).status).toBe(200);
    }
    clock.advance(sessionIdleMsMax / 2);
    expect((await account(used)).status).toBe(303);
  });

  test("whoever is suspended is signed out at once, and whoever is deactivated loses that workspace at once", async () => {
    await world.control.expect("POST", "/members", { body: { workspace: "acme", email: "gone@acme", role: "member" } });
    const first = await world.signIn("gone@acme");
    await world.control.expect("POST", "/accounts/gone@acme/suspend", { body: {} });
    expect((await account(first)).status).toBe(303);
    await world.control.expect("POST", "/accounts/gone@acme/unsuspend", { body: {} });
    expect((await account(first)).status).toBe(303);
    const second = await world.signIn("gone@acme");
    const keys = async () => (await world.get("/console/w/acme/keys", second)).status;
    expect(await keys()).toBe(200);
    await world.control.expect("POST", "/members/gone@acme/deactivate", { body: { workspace: "acme" } });
    expect([await keys(), (await account(second)).status]).toEqual([404, 200]);
  });
});
