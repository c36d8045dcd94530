/** No admin reaches into another workspace: what the admin of one may do to a person of another who has joined, was asked or declined. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { selectAdmins } from "../../../src/accounts/alerts/store.ts";
import { sessionUseMs } from "../../../src/accounts/limits.ts";
import { inviteAgainMs } from "../../../src/control-api/limits.ts";
import { isoTime } from "../../../src/kernel/clock.ts";
import { ConsoleWorld, sessionOf, type Browser } from "../../support/console.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

const password = "violet harbour engine 47";

describe.each(oneDatabase)("people of another workspace on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let workspaces = 0;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("home");
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** The workspace of a stranger who invites `person`. */
  async function stranger(person: string, role = "member") {
    const name = `stranger-${++workspaces}`;
    await world.control.workspace(name);
    const as = `admin@${name}`;
    const invite = (email = person) =>
      world.control.call("POST", "/members", { body: { workspace: name, email, role, invite: true }, as });
    const act = (verb: "deactivate" | "reactivate") =>
      world.control.call("POST", `/members/${person}/${verb}`, { body: { workspace: name }, as });
    const setRole = (to: string) =>
      world.control.call("PATCH", `/members/${person}`, { body: { workspace: name, role: to }, as });
    const listed = async (email = person) =>
      (await world.control.list(`/members?workspace=${name}&email=${encodeURIComponent(email)}`, { as }))[0];
    const accountEvents = async () =>
      (await world.control.list(`/audit?workspace=${name}`, { as }))
        .map(({ event }) => String(event))
        .filter((event) => event.startsWith("account."));
    const asked = await invite();
    return { name, as, asked, invite, act, setRole, listed, accountEvents };
  }

  const answer = (name: string, action: "accept" | "decline", browser: Browser) =>
    world.post("/console/invitations", { action, workspace: name, name }, browser);
  const newPerson = async (): Promise<string> => {
    const email = `person-${++workspaces}@home`;
    await world.control.expect("POST", "/members", { body: { workspace: "home", email, role: "member" } });
    return email;
  };
  /** The ways of a person into the Console: a session, a link of the operator, and a mail for a new password. */
  async function waysOf(email: string) {
    const browser = await world.signIn(email, { bothFactors: false });
    const { url } = await world.control.expect("POST", "/session-links", { body: { email } });
    const link = new URL(String(url)).pathname;
    return async () => [(await world.get("/console/w/home/keys", browser)).status, (await world.get(link)).status];
  }
  const lastMail = async (email: string) => {
    const [mail] = await database.sql<
      { body: string }[]
    >`SELECT body FROM mails WHERE recipient = ${email} ORDER BY id DESC LIMIT 1`;
    const [, path = ""] = /https:\/\/weir\.example\.com(\/console\/link\/\S+)/.exec(mail?.body ?? "") ?? [];
    return { body: mail?.body ?? "", path };
  };

  test.each(["asked", "joined"])(
    "eighteen rounds of deactivating and inviting a person who was %s end no session and no link of theirs",
    async (kind) => {
      const email = await newPerson();
      const { name, invite, act } = await stranger(email);
      if (kind === "joined") await answer(name, "accept", await world.signIn(email));
      const ways = await waysOf(email);
      const answers: number[] = [];
      for (let round = 0; round < 18; round++) {
        answers.push((await act("deactivate")).status, (await act("reactivate")).status, (await invite()).status);
        expect(await ways()).toEqual([200, 200]);
      }
      // Whoever has not accepted is asked again, and not made a member.
      const round = kind === "joined" ? [200, 200, 409] : [200, 409, 429];
      expect(answers).toEqual(Array.from({ length: 18 }, () => round).flat());
    },
  );

  test("member and admin in turn ends no session and demands no second factor elsewhere", async () => {
    const email = await newPerson();
    const { name, setRole } = await stranger(email);
    await answer(name, "accept", await world.signIn(email));
    const ways = await waysOf(email);
    for (let round = 0; round < 9; round++) {
      for (const role of ["admin", "member"]) {
        expect([(await setRole(role)).status, await ways()]).toEqual([200, [200, 200]]);
      }
    }
    await setRole("admin");
    await world.post("/console/account", { action: "password", password }, await world.signIn(email, { way: "link" }));
    const signedIn = await world.post("/console/sign-in", { email, password });
    expect([signedIn.status, signedIn.headers.get("location")]).toEqual([303, "/console"]);
    const browser = sessionOf(signedIn);
    const pages = ["/console/w/home/keys", `/console/w/${name}/keys`].map(
      async (path) => (await world.get(path, browser)).status,
    );
    expect(await Promise.all(pages)).toEqual([200, 403]);
  });

  test("a workspace sees when a person was there, and what became of their account, only after they joined", async () => {
    const email = await newPerson();
    const { name, listed, accountEvents } = await stranger(email);
    const browser = await world.signIn(email, { way: "link" });
    await world.get("/console/w/home/members", browser);
    await world.post("/console/account", { action: "password", password }, browser);
    await world.control.expect("POST", "/session-links", { body: { email } });
    await world.control.expect("POST", `/accounts/${email}/suspend`, { body: {} });
    expect(await listed()).toMatchObject({ state: "pending", last_seen_at: null });
    await world.control.expect("POST", `/accounts/${email}/unsuspend`, { body: {} });
    expect(await accountEvents()).toEqual([]);
    const again = await world.signIn(email, { way: "link" });
    await answer(name, "accept", again);
    // They have joined, and not been there yet.
    expect(await listed()).toMatchObject({ state: "active", last_seen_at: null });
    await world.get(`/console/w/${name}/members`, again);
    const here = isoTime(world.control.clock.now());
    world.control.clock.advance(sessionUseMs);
    await world.get("/console/w/home/members", again);
    expect(await listed()).toMatchObject({ last_seen_at: here });
    await world.control.expect("POST", "/session-links", { body: { email } });
    expect(await accountEvents()).toEqual(["account.link.created"]);
  });

  test("adding an address gets the same answer whether it is known, new, suspended or deleted", async () => {
    const [known, suspended, deleted] = [await newPerson(), await newPerson(), await newPerson()];
    await world.control.expect("POST", `/accounts/${suspended}/suspend`, { body: {} });
    await world.control.expect("POST", `/accounts/${deleted}/delete`, { body: {} });
    const { invite, listed } = await stranger(known);
    const answers = [];
    for (const email of [suspended, deleted, "nobody@nowhere"]) {
      const { status, body } = await invite(email);
      answers.push(JSON.stringify({ status, body, listed: await listed(email) }).replaceAll(email, "X"));
    }
    answers.push(
      JSON.stringify({ status: 201, body: await memberOf(known), listed: await listed(known) }).replaceAll(known, "X"),
    );
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain('"state":"pending"');
  });
  const memberOf = async (email: string) => ({ email, role: "member", state: "pending", monthly_spend_limit_usd: null });

  test("a person who was asked has no rights, no keys and no mails of the workspace before they accept", async () => {
    const email = await newPerson();
    const { name, asked, as } = await stranger(email, "admin");
    expect(asked.status).toBe(201);
    const browser = await world.signIn(email);
    const identity = async () => {
      const headers = { cookie: `weir=${browser.token}`, host: "localhost" };
      return (await world.control.call("GET", "/session", { token: null, headers })).body as Record<string, { name: string }[]>;
    };
    expect((await identity())["workspaces"]?.map((one) => one.name)).toEqual(["home"]);
    expect((await identity())["invitations"]).toMatchObject([{ name, role: "admin", invited_by: as }]);
    expect((await world.get(`/console/w/${name}/keys`, browser)).status).toBe(404);
    const member = { workspace: name, as: email };
    expect(await world.control.refusal("GET", `/members?workspace=${name}`, member)).toBe("403 forbidden X-Act-As");
    expect(await world.control.refusal("POST", "/keys", { body: { workspace: name, owner: email } })).toBe("403 forbidden owner");
    const { id } = await world.control.expect("GET", `/workspaces/${name}`);
    const admins = () => selectAdmins({ workspace: String(id), limit: 10 }, database.sql);
    expect(await admins()).not.toContain(email);
    // No one else answers for them, not even with the operator token.
    expect(await world.control.refusal("POST", `/invitations/${name}/accept`, { as: email })).toBe("403 forbidden null");
    expect((await answer(name, "accept", await world.signIn("member@home"))).status).toBe(404);
    expect((await answer(name, "accept", browser)).headers.get("location")).toBe(`/console/w/${name}`);
    expect([await admins(), (await world.get(`/console/w/${name}/keys`, browser)).status]).toEqual([
      [as, email, `super_admin@${name}`],
      200,
    ]);
    await world.control.expect("POST", "/keys", { body: { workspace: name, owner: email } });
    const events = (await world.control.list(`/audit?workspace=${name}&event=workspace.member.accepted`)).map(
      ({ actor, role }) => [actor, role],
    );
    expect(events).toEqual([[email, "admin"]]);
  });

  test("a person declines in the Console, the admin sees it, and the answer stands", async () => {
    const email = await newPerson();
    const { name, listed, act } = await stranger(email);
    const browser = await world.signIn(email);
    const home = (await world.get("/console/w/home/keys", browser)).text;
    expect(home).toContain("A workspace invites you");
    const page = (await world.get("/console/invitations", browser)).text;
    expect([page.includes(name), page.includes("Accept"), page.includes("Decline")]).toEqual([true, true, true]);
    // Auditors read the list of members and the audit log too.
    expect(page).toContain("Its admins and auditors then see when you last used it");
    expect((await answer(name, "decline", browser)).status).toBe(303);
    expect(await listed()).toMatchObject({ state: "declined" });
    expect((await answer(name, "accept", browser)).status).toBe(404);
    expect((await act("reactivate")).status).toBe(409);
    expect((await world.get(`/console/w/${name}/keys`, browser)).status).toBe(404);
    expect((await world.get((await lastMail(email)).path)).status).toBe(404);
    expect((await world.get("/console/w/home/keys", browser)).text).not.toContain("invites you");
  });

  test("the mail's link declines without a session, or accepts and signs in", async () => {
    const [one, two] = [await newPerson(), await newPerson()];
    const { name, listed, invite } = await stranger(one);
    const mail = await lastMail(one);
    expect(mail.body).toContain(`admin@${name} invites you to the workspace "${name}" as member`);
    const shown = (await world.get(mail.path)).text;
    expect([shown.includes("Accept and sign in"), shown.includes("Decline"), shown.includes(name)]).toEqual([true, true, true]);
    const declined = await world.post(`${mail.path}/decline`, {});
    expect([
      declined.headers.get("location"),
      declined.headers.getSetCookie().some((cookie) => cookie.startsWith("weir=")),
    ]).toEqual(["/console/sign-in", false]);
    expect(await listed()).toMatchObject({ state: "declined" });
    expect((await world.post(mail.path, {})).status).toBe(404);
    await invite(two);
    await world.post("/console/account", { action: "password", password }, await world.signIn(two, { way: "link" }));
    // A new password ends the mailed link, so the person answers in the Console or gets another mail.
    expect((await world.get((await lastMail(two)).path)).status).toBe(404);
    world.control.clock.advance(inviteAgainMs);
    await invite(two);
    const accepted = await world.post((await lastMail(two)).path, {});
    expect(accepted.headers.get("location")).toBe(`/console/w/${name}`);
    expect((await world.get(`/console/w/${name}/keys`, sessionOf(accepted))).status).toBe(200);
  });

  test("whoever is signed in accepts by one click on the link's page, and keeps the session", async () => {
    const email = await newPerson();
    const { name } = await stranger(email);
    const browser = await world.signIn(email);
    const { path } = await lastMail(email);
    const shown = (await world.get(path, browser)).text;
    expect([shown.includes(">Accept<"), shown.includes("signs you in")]).toEqual([true, false]);
    const accepted = await world.post(path, {}, browser);
    expect([accepted.headers.get("location"), accepted.headers.get("set-cookie")]).toEqual([`/console/w/${name}`, null]);
    expect((await world.get(`/console/w/${name}/keys`, browser)).status).toBe(200);
  });

  test("an invitation that is taken back ends its own link, and no other", async () => {
    const email = await newPerson();
    const [first, second] = [await stranger(email), await stranger(email)];
    const kept = (await lastMail(email)).path;
    await second.act("deactivate");
    expect((await world.get(kept)).status).toBe(404);
    expect(await second.listed()).toMatchObject({ state: "withdrawn" });
    const links = await database.sql`SELECT 1 FROM sign_in_links WHERE email = ${email}`;
    expect([links.length, (await first.listed())?.["state"]]).toEqual([1, "pending"]);
  });

  test("whom the operator adds is a member at once, also after declining", async () => {
    const email = await newPerson();
    const { name } = await stranger(email);
    await answer(name, "decline", await world.signIn(email));
    const body = { workspace: name, email, role: "auditor" };
    expect(await world.control.expect("POST", "/members", { body })).toMatchObject({ role: "auditor", state: "active" });
    expect((await world.control.call("POST", "/members", { body })).status).toBe(409);
  });
});
