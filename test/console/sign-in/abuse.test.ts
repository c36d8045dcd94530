/** What a stranger, a member, or an admin of one workspace may not do to the others through the Console. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  passwordLinksMax,
  recentSignInMs,
  sessionsMax,
  signInTriesMax,
  signInTriesMs,
  signInTriesOfNetworkMax,
} from "../../../src/accounts/limits.ts";
import { countTry } from "../../../src/accounts/sessions/sign-in.ts";
import { formBodiesPerPersonMax, pageDeadlineMs, signInsAtOnceMax, signInsWaitingMax } from "../../../src/console/limits.ts";
import { controlApi } from "../../../src/control-api/api.ts";
import {
  inviteAgainMs,
  memberChangesPerHourMax,
  sessionFilesWaitingPerPersonMax,
  wrongTokensMax,
} from "../../../src/control-api/limits.ts";
import { operatorToken } from "../../support/control.ts";
import { ConsoleWorld } from "../../support/console.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { settled } from "../../support/clock.ts";
import { until } from "../../support/until.ts";

const password = "violet harbour engine 47";

describe.each(oneDatabase)("abuse of the Console on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const count = async (table: "sign_in_tries" | "mails" | "sessions") => {
    const [row] = await database.sql<{ rows: number }[]>`SELECT count(*)::integer AS rows FROM ${database.sql(table)}`;
    return row?.rows ?? 0;
  };
  const setRole = (email: string, role: string) =>
    world.control.expect("PATCH", `/members/${email}`, { body: { workspace: "acme", role } });
  /** Uses up the tries of the tests' network, for all addresses together. */
  const useUpTries = async (kind: "sign in" | "reset") => {
    const { sql, control } = world;
    for (let index = 0; index < signInTriesOfNetworkMax; index++)
      await countTry({ kind, email: `x${index}@q`, network: "", known: null }, { sql, clock: control.clock });
  };
  const statusOf = async (token: string) => (await world.get("/console/account", { token })).status;

  test("a network without tries left adds no row for a further address", async () => {
    await useUpTries("reset");
    await useUpTries("sign in");
    const before = await count("sign_in_tries");
    const [reset, signIn] = [
      await world.post("/console/reset", { email: "further@q" }),
      await world.post("/console/sign-in", { email: "further@q", password: "x" }),
    ];
    expect([reset.status, signIn.status]).toEqual([429, 429]);
    expect(await count("sign_in_tries")).toBe(before);
    world.control.clock.advance(signInTriesMs);
    expect((await world.post("/console/sign-in", { email: "further@q", password: "x" })).status).toBe(401);
  });

  test("mails that are asked for until they are refused close no sign-in to a new browser", async () => {
    await world.post("/console/account", { action: "password", password }, await world.signIn("auditor@acme", { way: "link" }));
    const statuses: number[] = [];
    for (let index = 0; index < signInTriesOfNetworkMax + 10; index++)
      statuses.push((await world.post("/console/reset", { email: `asked${index}@q` })).status);
    expect(statuses).toEqual([...Array<number>(signInTriesOfNetworkMax).fill(200), ...Array<number>(10).fill(429)]);
    expect((await world.post("/console/sign-in", { email: "auditor@acme", password })).status).toBe(303);
    world.control.clock.advance(signInTriesMs);
  });

  test("strangers who use up the tries of a network do not lock out a browser in which the person signed in", async () => {
    const browser = await world.signIn("super_admin@acme", { way: "link" });
    await world.post("/console/account", { action: "password", password }, browser);
    const { url } = await world.control.expect("POST", "/session-links", { body: { email: "super_admin@acme" } });
    const cookies = (await world.post(new URL(String(url)).pathname, {})).headers.getSetCookie();
    const known = cookies.map((cookie) => cookie.split(";", 1)[0]).find((cookie) => cookie?.startsWith("weir-known="));
    await useUpTries("sign in");
    const signIn = (email: string, typed: string, cookie = known ?? "") =>
      world.post("/console/sign-in", { email, password: typed }, undefined, { cookie });
    expect((await signIn("super_admin@acme", password, "")).status).toBe(429);
    expect((await signIn("admin@acme", password)).status).toBe(429);
    expect((await signIn("super_admin@acme", password)).status).toBe(303);
    for (let index = 0; index < signInTriesMax; index++) await signIn("super_admin@acme", "");
    expect((await signIn("super_admin@acme", password)).status).toBe(429);
    world.control.clock.advance(signInTriesMs);
  });

  test("the operator signs in during a flood of forms with wrong tokens, from the same address", async () => {
    for (let sent = 0; sent <= wrongTokensMax; sent += 50)
      await Promise.all(Array.from({ length: 50 }, () => world.post("/console/sign-in", { operator_token: "wrong" })));
    const [wrong, right] = [
      await world.post("/console/sign-in", { operator_token: "wrong" }),
      await world.post("/console/sign-in", { operator_token: operatorToken }),
    ];
    expect([wrong.status, right.status, (await world.control.call("GET", "/workspaces")).status]).toEqual([429, 303, 200]);
  });

  test("the operator signs in while passwords of the same address take all of its places", async () => {
    const flooded = new ConsoleWorld(database.sql);
    let reading = 0;
    const send = () => {
      const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => reading++) }, { highWaterMark: 0 });
      const headers = { host: "localhost", "sec-fetch-site": "same-origin" };
      void flooded.send(new Request("http://localhost/console/sign-in", { method: "POST", headers, body })).catch(() => {});
    };
    for (let sent = 0; sent < signInsAtOnceMax + signInsWaitingMax; sent++) send();
    await until(() => reading === signInsAtOnceMax / 2);
    const [, path = ""] =
      /action="([^"]+)"(?:(?!<form)[^])*name="operator_token"/.exec((await flooded.get("/console/sign-in")).text) ?? [];
    let status = 0;
    void flooded.post(path, { operator_token: operatorToken }).then((answer) => (status = answer.status));
    await until(() => status !== 0);
    expect(status).toBe(303);
    expect((await flooded.post(path, { email: "auditor@acme", password })).text).toContain("The token is wrong");
  });

  test("nobody fills a mailbox: a person gets a few mails for a new password, and later tries look the same", async () => {
    const answers = new Set<string>();
    for (let index = 0; index < signInTriesMax; index++) {
      answers.add((await world.post("/console/reset", { email: "auditor@acme" })).text);
    }
    await world.post("/console/reset", { email: "member@acme" });
    await until(async () => (await count("mails")) > passwordLinksMax);
    expect([answers.size, await count("mails")]).toEqual([1, passwordLinksMax + 1]);
  });

  test("a person has a bounded number of sessions, and the one used longest ago ends first", async () => {
    const first = await world.signIn("member@acme");
    for (let index = 1; index < sessionsMax; index++) {
      world.control.clock.advance(1);
      await world.signIn("member@acme");
    }
    expect(await statusOf(first.token)).toBe(200);
    const last = await world.signIn("member@acme");
    expect([await statusOf(first.token), await statusOf(last.token)]).toEqual([303, 200]);
  });

  test("a person gets no more places for forms by further sessions, and forms that never arrive hold up no page", async () => {
    const browsers = await Promise.all(Array.from({ length: 4 }, () => world.signIn("auditor@acme")));
    let reading = 0;
    const read = () => {
      reading++;
      return new Promise<void>(() => {});
    };
    const slow = (token: string) =>
      new Request("http://localhost/console/account", {
        method: "POST",
        headers: { host: "localhost", cookie: `weir=${token}`, "sec-fetch-site": "same-origin" },
        body: new ReadableStream<Uint8Array>({ pull: read }, { highWaterMark: 0 }),
      });
    for (const { token } of [...browsers, ...browsers]) void world.send(slow(token)).catch(() => {});
    await until(() => reading === formBodiesPerPersonMax);
    const admin = await world.signIn("admin@acme");
    const pages = [await world.get("/console/account", admin), await world.get("/console/account", browsers[0])];
    expect([...pages.map(({ status }) => status), reading]).toEqual([200, 200, formBodiesPerPersonMax]);
  });

  test("a page that takes too long keeps its place until its work has ended, so that loading it again and again is no way to more", async () => {
    const { clock, parts } = world.control;
    const { serviceState } = parts;
    const present = await serviceState();
    const operator = await world.signIn(null);
    const work = Promise.withResolvers<typeof present>();
    let isAsked = false;
    parts.serviceState = () => {
      isAsked = true;
      return work.promise;
    };
    const slow = world.get("/console/operator/service", operator);
    await until(() => isAsked);
    await clock.pass(pageDeadlineMs);
    expect((await slow).status).toBe(503);
    let isShown = false;
    const next = world.get("/console/operator", operator).finally(() => (isShown = true));
    await settled();
    expect(isShown).toBe(false);
    work.resolve(present);
    expect((await next).status).toBe(200);
    parts.serviceState = serviceState;
  });

  test("a person's files that never arrive take one place in the control API, and others of theirs are refused", async () => {
    const { token } = await world.signIn("auditor@acme");
    const app = controlApi(world.control.parts);
    const upload = (body: string | ReadableStream) =>
      app.handle(
        new Request("http://localhost/api/console/sboms?workspace=acme&project=x", {
          method: "POST",
          headers: {
            host: "localhost",
            cookie: `weir=${token}`,
            "sec-fetch-site": "same-origin",
            "content-type": "application/json",
          },
          body,
        }),
      );
    let reading = 0;
    const endless = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => reading++) }, { highWaterMark: 0 });
    void upload(endless);
    await until(() => reading === 1);
    const others = Array.from({ length: 1 + sessionFilesWaitingPerPersonMax }, () => upload("{}"));
    expect((await Promise.race(others)).status).toBe(429);
  });

  test("a role ends no session, and an admin's pages open only to a session with a second factor", async () => {
    const browser = await world.signIn("member@acme", { bothFactors: false });
    const home = async () => (await world.get("/console/w/acme/members", browser)).status;
    const settings = () =>
      world.control.call("GET", "/members?workspace=acme", {
        token: null,
        headers: { host: "localhost", cookie: `weir=${browser.token}` },
      });
    expect([await home(), (await settings()).status]).toEqual([200, 200]);
    await setRole("member@acme", "admin");
    expect([await statusOf(browser.token), await home(), (await settings()).status]).toEqual([200, 403, 401]);
    await setRole("member@acme", "member");
    expect([await home(), (await settings()).status]).toEqual([200, 200]);
  });

  test("an open browser brings back no admin without a recent sign-in", async () => {
    const body = { workspace: "acme", email: "former@acme", role: "admin" };
    await world.control.expect("POST", "/members", { body });
    await world.control.expect("POST", "/members/former@acme/deactivate", { body: { workspace: "acme" } });
    const admin = await world.signIn("super_admin@acme");
    const path = "/console/w/acme/members/former%40acme";
    expect((await world.get(path, admin)).text).toContain('value="reactivate"');
    world.control.clock.advance(recentSignInMs);
    expect((await world.get(path, admin)).text).not.toContain('value="reactivate"');
    expect((await world.post(path, { action: "reactivate" }, admin)).text).toContain("Cannot reactivate an admin");
  });

  test("admins change members a bounded number of times in an hour, since invitations are mails to anybody", async () => {
    const { clock } = world.control;
    await world.control.workspace("inviting");
    const invite = (email: string) => {
      const body = { workspace: "inviting", email, role: "member", invite: true };
      return world.control.call("POST", "/members", { body, as: "admin@inviting" });
    };
    for (let index = 0; index < memberChangesPerHourMax; index++) {
      expect((await invite(`n${index}@q`)).status).toBe(201);
      clock.advance(1_000);
    }
    const waits = await invite("late@q");
    expect([waits.status, waits.headers.get("retry-after")]).toEqual([429, String(3_600 - memberChangesPerHourMax)]);
    expect(await database.sql`SELECT 1 FROM members WHERE email = 'late@q'`).toHaveLength(0);
    const change = { body: { workspace: "inviting", role: "auditor" }, as: "admin@inviting" };
    expect(await world.control.refusal("PATCH", "/members/member@inviting", change)).toBe("429 limit_reached null");
    const admin = await world.signIn("admin@inviting");
    const page = await world.post("/console/w/inviting/members/member%40inviting", { action: "role", role: "auditor" }, admin);
    expect([
      page.status,
      page.text.includes("made 100 changes of members within the last hour: try again in 59 minutes"),
    ]).toEqual([429, true]);
    // Whoever used them up is deactivated all the same.
    await world.control.expect("POST", "/members/member@inviting/deactivate", { ...change, body: { workspace: "inviting" } });
    await world.control.expect("POST", "/members/member@inviting/reactivate", { body: { workspace: "inviting" } });
    // The operator has no such bound, and an hour after the first change there is room for another.
    await world.control.expect("PATCH", "/members/member@inviting", { body: change.body });
    clock.advance(3_600_000 - memberChangesPerHourMax * 1_000);
    expect((await invite("late@q")).status).toBe(201);
    expect((await invite("later@q")).status).toBe(429);
  });

  test("a person who has not accepted is invited once an hour, and again after they declined", async () => {
    const { clock } = world.control;
    await world.control.workspace("asking");
    const invite = () => {
      const body = { workspace: "asking", email: "asked@q", role: "member", invite: true };
      return world.control.call("POST", "/members", { body, as: "admin@asking" });
    };
    expect((await invite()).status).toBe(201);
    await world.post("/console/invitations", { action: "decline", workspace: "asking" }, await world.signIn("asked@q"));
    clock.advance(inviteAgainMs - 60_000);
    const early = await invite();
    expect([early.status, early.headers.get("retry-after")]).toEqual([429, "60"]);
    clock.advance(60_000);
    expect((await invite()).body).toMatchObject({ state: "pending" });
    expect(await database.sql`SELECT 1 FROM mails WHERE recipient = 'asked@q'`).toHaveLength(2);
    // Nor many times at once.
    const body = { workspace: "asking", email: "at-once@q", role: "member", invite: true };
    const atOnce = Array.from({ length: 8 }, () => world.control.call("POST", "/members", { body, as: "admin@asking" }));
    expect((await Promise.all(atOnce)).map(({ status }) => status).toSorted()).toEqual([201, ...Array<number>(7).fill(429)]);
    expect(await database.sql`SELECT 1 FROM mails WHERE recipient = 'at-once@q'`).toHaveLength(1);
  });

  test("names that every object has are no forms, and an id with a NUL is none", async () => {
    const admin = await world.signIn("admin@acme");
    const forms = ["constructor", "toString", "__proto__"].map((action) => world.post("/console/account", { action }, admin));
    expect((await Promise.all(forms)).map(({ status }) => status)).toEqual([404, 404, 404]);
    const paths = ["keys", "requests", "connections", "projects"].map((name) => `/console/w/acme/${name}/%00`);
    const pages = await Promise.all(paths.map((path) => world.get(path, admin)));
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  });

  test("beyond this machine no other host can put words into the page that follows a form", async () => {
    const answer = await world.post("/console/sign-out", {}, undefined, { host: "weir.example.com" });
    expect(answer.headers.getSetCookie().find((cookie) => cookie.includes("signed%20out"))).toMatch(/^__Host-.*; Secure$/);
  });
});
