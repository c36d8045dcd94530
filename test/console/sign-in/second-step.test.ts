/** The second factor: who has to set one up, what a code opens, and what does not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  firstStepMs,
  freshProofMs,
  recentSignInMs,
  signInTriesMax,
  signInTriesMs,
  totpStepMs,
  wrongCodesWindowMs,
} from "../../../src/accounts/limits.ts";
import { appCode, secretBytes } from "../../support/sign-in/authenticator-app.ts";
import { ConsoleWorld, sessionOf, type Browser, type Shown } from "../../support/console.ts";
import { Control } from "../../support/control.ts";
import { cookiesOf } from "../../support/sign-in/cookies.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

const password = "violet harbour engine 47";
const codePath = "/console/sign-in/code";

describe.each(oneDatabase)("second factors on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
    await world.control.workspace("beta");
    await world.control.expect("POST", "/members", { body: { workspace: "beta", email: "admin@acme", role: "member" } });
    for (const email of ["admin@acme", "member@acme"]) {
      await world.post("/console/account", { action: "password", password }, await world.signIn(email, { way: "link" }));
    }
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const { control, clock } = { control: () => world.control, clock: () => world.control.clock };
  const firstStep = (email: string) => world.post("/console/sign-in", { email, password });
  const sendTo = (path: string, after: Shown, fields: Record<string, string>) =>
    world.post(path, fields, undefined, { cookie: cookiesOf(after) });
  const secretIn = ({ text }: Shown) => (/<code id="secret">([A-Z2-7 \n]+)<\/code>/.exec(text)?.[1] ?? "").replaceAll(/\s/g, "");
  const recoveryIn = ({ text }: Shown) => /<code id="recovery-codes">([a-z2-7\n-]+)<\/code>/.exec(text)?.[1]?.split("\n") ?? [];
  /** The next code that an app shows; the clock moves to a step that was not used. */
  const nextCode = (secret: string) => {
    clock().advance(totpStepMs);
    return appCode(secret, clock().now());
  };
  /** Sets up an app on the account page. @param code of the current app, if there is one */
  const setUp = async (browser: Browser, code = "") => {
    const secret = secretIn(await world.post("/console/account", { action: "set-up-second-factor", code }, browser));
    const confirmed = await world.post("/console/account", { action: "confirm-second-factor", code: nextCode(secret) }, browser);
    return { secret, recovery: recoveryIn(confirmed) };
  };
  const reset = (email: string) => control().expect("POST", `/accounts/${email}/reset`);
  const events = async (event: string) =>
    (await control().list(`/audit?workspace=acme&event=${event}`)).map(({ actor, role, target }) => [actor, role, target]);

  test("an admin without an app is refused the pages of that workspace alone, and sets one up from there", async () => {
    const first = await firstStep("admin@acme");
    expect([first.status, first.headers.get("location")]).toEqual([303, "/console"]);
    const browser = sessionOf(first);
    const pages = ["/console/w/acme/settings", "/console/w/beta/settings", "/console/account"];
    const statuses = async () => await Promise.all(pages.map(async (path) => (await world.get(path, browser)).status));
    expect(await statuses()).toEqual([403, 200, 200]);
    expect((await world.get(pages[0] ?? "", browser)).text).toContain("A second factor is needed here");
    expect((await world.post(pages[0] ?? "", { action: "answers", cost_in_answers: "true" }, browser)).status).toBe(403);
    const begin = { action: "set-up-second-factor", next: "/console/w/acme/settings" };
    const shown = await world.post("/console/account", begin, browser);
    expect(shown.text).toContain("<svg");
    const code = { action: "confirm-second-factor", next: begin.next };
    const wrong = await world.post("/console/account", { ...code, code: "000000" }, browser);
    expect([wrong.status, secretIn(wrong), wrong.text.includes(`name="next" value="${begin.next}"`)]).toEqual([400, "", true]);
    const confirmed = await world.post("/console/account", { ...code, code: nextCode(secretIn(shown)) }, browser);
    expect([recoveryIn(confirmed).length, confirmed.text.includes(`href="${begin.next}"`)]).toEqual([10, true]);
    expect(await statuses()).toEqual([200, 200, 200]);
    expect(await events("account.factor.enabled")).toEqual([["admin@acme", "admin", "admin@acme"]]);
    await reset("admin@acme");
  });

  test("a session from before the app needs a code before it has an admin's pages", async () => {
    const before = sessionOf(await firstStep("admin@acme"));
    const { secret } = await setUp(sessionOf(await firstStep("admin@acme")));
    const page = await world.get("/console/w/acme/settings", before);
    expect([page.status, page.text.includes("Sign in with a code")]).toEqual([403, true]);
    const opened = await sendTo(codePath, await firstStep("admin@acme"), { code: nextCode(secret) });
    expect((await world.get("/console/w/acme/settings", sessionOf(opened))).status).toBe(200);
    await reset("admin@acme");
  });

  test("a password alone leads to the code, and a code opens one session", async () => {
    const { secret } = await setUp(await world.signIn("member@acme"));
    const first = await firstStep("member@acme");
    expect([first.status, first.headers.get("location")]).toEqual([303, codePath]);
    const code = nextCode(secret);
    const answers = await Promise.all(
      [1, 2, 3].map(() => sendTo(codePath, first, { code: `${code.slice(0, 3)} ${code.slice(3)}` })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400, 400]);
    const opened = answers.find(({ status }) => status === 303);
    expect(opened && (await world.get("/console/account", sessionOf(opened))).status).toBe(200);
    await reset("member@acme");
  });

  test("a recovery code opens one session, and its use is recorded", async () => {
    const { recovery } = await setUp(await world.signIn("member@acme"));
    const first = await firstStep("member@acme");
    const code = recovery[3]?.toUpperCase() ?? "";
    const answers = await Promise.all([1, 2].map(() => sendTo(codePath, first, { code })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400]);
    expect(await events("account.recovery.used")).toEqual([["member@acme", "member", "member@acme"]]);
    const stored = await database.sql<{ hash: string }[]>`SELECT hash FROM recovery_codes WHERE email = 'member@acme'`;
    expect(stored).toHaveLength(9);
    expect(recovery.some((one) => stored.some(({ hash }) => hash.includes(one)))).toBe(false);
    await reset("member@acme");
  });

  test("after ten wrong codes no code is read for a quarter of an hour, and after a hundred only the operator opens the account", async () => {
    const { secret, recovery } = await setUp(await world.signIn("member@acme"));
    const guess = async (first: Shown) => (await sendTo(codePath, first, { code: "000000" })).status;
    for (let window = 0; window < 10; window++) {
      const first = await firstStep("member@acme");
      const statuses = await Promise.all(Array.from({ length: 12 }, () => guess(first)));
      expect(statuses.toSorted()).toEqual([...Array<number>(10).fill(400), 429, 429]);
      expect((await sendTo(codePath, first, { code: recovery[0] ?? "" })).status).toBe(429);
      clock().advance(wrongCodesWindowMs);
    }
    const closed = await sendTo(codePath, await firstStep("member@acme"), { code: nextCode(secret) });
    expect([closed.status, closed.text.includes("ask the operator")]).toEqual([429, true]);
    expect(await reset("member@acme")).toEqual({ second_factor: true, oidc: false });
    expect((await firstStep("member@acme")).headers.get("location")).toBe("/console");
  });

  test("the first step is worth nothing after ten minutes, after a new password, changed or in another's place", async () => {
    const { secret } = await setUp(await world.signIn("member@acme"));
    const first = await firstStep("member@acme");
    const changed = cookiesOf(first).slice(0, -2);
    expect((await world.post(codePath, { code: nextCode(secret) }, undefined, { cookie: changed })).status).toBe(401);
    const renewed = await world.post(
      "/console/account",
      { action: "password", password },
      await world.signIn("member@acme", { way: "link" }),
    );
    expect(renewed.status).toBe(303);
    expect((await sendTo(codePath, first, { code: nextCode(secret) })).status).toBe(401);
    const later = await firstStep("member@acme");
    clock().advance(firstStepMs);
    expect((await sendTo(codePath, later, { code: nextCode(secret) })).status).toBe(401);
    await reset("member@acme");
  });

  test("a mail's link is one factor, and a link of the operator stands for both", async () => {
    await setUp(await world.signIn("member@acme"));
    await world.post("/console/reset", { email: "member@acme" });
    const mails = () => database.sql<{ body: string }[]>`SELECT body FROM mails WHERE recipient = 'member@acme'`;
    await until(async () => (await mails()).length === 1);
    const [mail] = await mails();
    const [, mailed = ""] = /weir\.example\.com(\/console\/link\/\S+)/.exec(mail?.body ?? "") ?? [];
    expect((await world.post(mailed, {})).headers.get("location")).toBe(codePath);
    const { url } = await control().expect("POST", "/session-links", { body: { email: "member@acme" } });
    expect((await world.post(new URL(String(url)).pathname, {})).headers.get("location")).toBe("/console");
    await reset("member@acme");
  });

  test("an app is replaced or turned off by its own code or a recovery code, with a recent sign-in, and an admin cannot end it", async () => {
    const browser = await world.signIn("admin@acme");
    const { secret, recovery } = await setUp(browser);
    expect(recovery).toHaveLength(10);
    const send = (action: string, code: string, by = browser) => world.post("/console/account", { action, code }, by);
    for (const action of ["set-up-second-factor", "end-second-factor"]) {
      const refused = await send(action, "");
      expect([refused.status, secretIn(refused)]).toEqual([400, ""]);
    }
    const kept = await send("end-second-factor", nextCode(secret));
    expect([kept.status, kept.text.includes("Admins need")]).toEqual([409, true]);
    // A new app takes the place of the old one, with new recovery codes.
    const replaced = await setUp(browser, recovery[0]);
    expect([replaced.recovery.length, replaced.recovery.includes(recovery[1] ?? "")]).toEqual([10, false]);
    const member = await world.signIn("member@acme");
    const own = await setUp(member);
    expect((await send("end-second-factor", nextCode(own.secret), member)).status).toBe(303);
    expect(await events("account.factor.disabled")).toEqual([["member@acme", "member", "member@acme"]]);
    clock().advance(recentSignInMs);
    expect((await send("set-up-second-factor", "", member)).status).toBe(401);
    await reset("admin@acme");
  });

  test("a new password takes the present one, and guessing it at an open session is bounded", async () => {
    const browser = await world.signIn("member@acme");
    const set = (present: string, chosen = password) =>
      world.post("/console/account", { action: "password", present_password: present, password: chosen }, browser);
    const wrong = await set("not the present one");
    expect([wrong.status, wrong.text.includes("password-present_password-problem")]).toEqual([400, true]);
    expect((await set("")).status).toBe(400);
    expect((await set(password, "another good engine 48")).status).toBe(303);
    expect((await set("another good engine 48")).status).toBe(303);
    for (let tries = 0; tries < signInTriesMax; tries++) await set("not the present one");
    expect((await set(password)).status).toBe(429);
    clock().advance(signInTriesMs);
    expect((await set(password)).status).toBe(303);
  });

  test("who has no password sets the first one right after a link, or by a code of an app from before the sign-in", async () => {
    const email = "auditor@acme";
    const linked = await world.signIn(email, { way: "link" });
    const set = (browser: Browser, fields: Record<string, string> = {}) =>
      world.post("/console/account", { action: "password", password, ...fields }, browser);
    clock().advance(freshProofMs);
    expect([(await set(linked)).status, (await world.get("/console/account", linked)).text.includes("no password yet")]).toEqual([
      403,
      true,
    ]);
    const { secret } = await setUp(linked);
    // Whoever sits at a session that was left open could set up their own app there.
    expect((await set(linked, { code: nextCode(secret) })).status).toBe(403);
    const later = await world.signIn(email, { way: "link" });
    clock().advance(freshProofMs);
    expect((await set(later)).status).toBe(400);
    expect((await set(later, { code: nextCode(secret) })).status).toBe(303);
    // A link replaces a forgotten password. A session at the provider, which may be another person's, does not.
    expect((await set(await world.signIn(email, { way: "oidc" }))).status).toBe(400);
    expect((await set(await world.signIn(email, { way: "link" }))).status).toBe(303);
    await reset(email);
  });

  test("secrets are sealed, bound to their account, and opened after `secrets rotate` without the old key", async () => {
    const { secret } = await setUp(await world.signIn("member@acme"));
    const [row] = await database.sql<{ sealed: Uint8Array }[]>`SELECT sealed FROM second_factors WHERE email = 'member@acme'`;
    expect(Buffer.from(row?.sealed ?? []).includes(secretBytes(secret))).toBe(false);
    const [old, young] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];
    expect(await new Control(database.sql, [young, old]).expect("POST", "/secrets/rotate")).toMatchObject({ rewrapped: 1 });
    expect(await new Control(database.sql, [young]).expect("POST", "/secrets/rotate")).toMatchObject({
      rewrapped: 0,
      unchanged: 1,
    });
    expect((await new Control(database.sql, [old]).call("POST", "/secrets/rotate")).status).toBe(409);
  });
});
