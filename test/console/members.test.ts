/** The pages of members: who may invite, change and deactivate whom, and what the operator does to accounts. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { inviteAgainMs } from "../../src/control-api/limits.ts";
import { recentSignInMs } from "../../src/accounts/limits.ts";
import { ConsoleWorld, sessionOf, type Browser } from "../support/console.ts";
import { oneDatabase, type TestDatabase } from "../support/servers/databases.ts";

describe.each(oneDatabase)("the pages of members on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let admin: Browser;
  let operator: Browser;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme", "10");
    admin = await world.signIn("admin@acme");
    operator = await world.signIn(null);
  });
  afterAll(() => database[Symbol.asyncDispose]());

  const members = "/console/w/acme/members";
  const pageOf = (email: string) => `${members}/${encodeURIComponent(email)}`;
  const add = (email: string, role = "member") =>
    world.control.expect("POST", "/members", { body: { workspace: "acme", email, role } });

  test("an admin invites a person by mail, and the page says so", async () => {
    const invited = await world.post(members, { action: "invite", email: "New@acme", role: "auditor" }, admin);
    expect([invited.status, invited.headers.get("location")]).toEqual([303, members]);
    expect(decodeURIComponent(invited.headers.get("set-cookie") ?? "")).toContain(
      "new@acme is invited, and becomes a member by accepting. A mail with a link is on its way.",
    );
    expect((await world.get(pageOf("new@acme"), admin)).text).toContain("has not accepted the invitation yet");
    const again = await world.post(members, { action: "invite", email: "new@acme", role: "auditor" }, admin);
    expect([again.status, again.text.includes("invite them again in 60 minutes")]).toEqual([429, true]);
    const known = await world.post(members, { action: "invite", email: "member@acme", role: "auditor" }, admin);
    expect([known.status, known.text.includes('id="invite-email-problem"')]).toEqual([409, true]);
  });

  test("an admin takes an invitation back, and invites a person again who declined", async () => {
    await world.post(members, { action: "invite", email: "back@acme", role: "member" }, admin);
    expect((await world.post(pageOf("back@acme"), { action: "deactivate" }, admin)).status).toBe(303);
    expect((await world.get(pageOf("back@acme"), admin)).text).toContain("The invitation was taken back");
    world.control.clock.advance(inviteAgainMs);
    expect((await world.post(pageOf("back@acme"), { action: "invite-again" }, admin)).status).toBe(303);
    await world.post("/console/invitations", { action: "decline", workspace: "acme" }, await world.signIn("back@acme"));
    const page = (await world.get(pageOf("back@acme"), admin)).text;
    expect([page.includes("declined the invitation"), page.includes('value="invite-again"')]).toEqual([true, true]);
    admin = await world.signIn("admin@acme");
  });

  test("an admin limits what a member may spend in a month, and the member sees the limit and cannot change it", async () => {
    await add("bounded@acme");
    const page = pageOf("bounded@acme");
    const refused = await world.post(page, { action: "limit", monthly_spend_limit_usd: "0" }, admin);
    expect([refused.status, refused.text.includes('id="change-limit-monthly_spend_limit_usd-problem"')]).toEqual([400, true]);
    await world.post(page, { action: "limit", monthly_spend_limit_usd: "12.5" }, admin);
    expect((await world.get(page, admin)).text).toContain('value="12.50"');
    const bounded = await world.signIn("bounded@acme");
    const own = (await world.get(page, bounded)).text;
    expect([own.includes("12.50"), own.includes('value="limit"')]).toEqual([true, false]);
    expect((await world.get(page, await world.signIn("member@acme"))).text).not.toContain("12.50");
    await world.post(page, { action: "limit", monthly_spend_limit_usd: "" }, admin);
    expect((await world.get(page, admin)).text).not.toContain('value="12.50"');
  });

  test("hostile names and addresses are shown as text", async () => {
    await add('"><b>@acme');
    await world.control.key("acme", { owner: '"><b>@acme', name: "<i>key</i>" });
    for (const path of [members, pageOf('"><b>@acme'), `${pageOf('"><b>@acme')}/deactivate`]) {
      const { status, text } = await world.get(path, admin);
      expect([status, text.includes("<b>"), text.includes("<i>key")]).toEqual([200, false, false]);
    }
  });

  test("an admin is offered no super admin, and sees why no one changes their own role", async () => {
    expect((await world.get(members, admin)).text).not.toContain('value="super_admin"');
    const own = (await world.get(pageOf("admin@acme"), admin)).text;
    expect(own).toContain("You cannot change your own membership.");
    expect(own).not.toContain('value="deactivate"');
    expect((await world.get(pageOf("super_admin@acme"), admin)).text).toContain("Only a super admin changes a super admin.");
    for (const fields of [{ action: "role", role: "super_admin" }, { action: "deactivate" }])
      expect((await world.post(pageOf("super_admin@acme"), fields, admin)).status).toBe(403);
  });

  test("the list is sorted by what its address says, and what cannot be sorted is ignored", async () => {
    const rows = async (query: string) =>
      [...(await world.get(`${members}?${query}`, admin)).text.matchAll(/<th role="rowheader".*?<bdi>([^<]*@acme)/g)].map(
        ([, email]) => email,
      );
    const usual = await rows("");
    expect(await rows("sort=-address")).toEqual(usual.toReversed());
    expect(await rows("sort=nothing")).toEqual(usual);
    expect((await world.get(`${members}?columns=address,state`, admin)).text).not.toContain('data-label="Role"');
  });

  test("deactivating names the keys that it revokes, and reactivating restores none", async () => {
    await add("leaver@acme");
    await world.control.key("acme", { owner: "leaver@acme", name: "nightly batch" });
    const asked = (await world.get(`${pageOf("leaver@acme")}/deactivate`, admin)).text;
    expect(asked).toContain("This revokes 1 key");
    expect(asked).toContain("nightly batch");
    expect((await world.post(pageOf("leaver@acme"), { action: "deactivate" }, admin)).status).toBe(303);
    expect((await world.get(pageOf("leaver@acme"), admin)).text).toContain("deactivated");
    expect((await world.post(pageOf("leaver@acme"), { action: "reactivate" }, admin)).status).toBe(303);
    expect((await world.get(`${pageOf("leaver@acme")}/deactivate`, admin)).text).toContain("no active key");
  });

  test("a role and a new admin need a sign-in of the last hour, which the page says before", async () => {
    await add("changed@acme");
    const left = await world.signIn("super_admin@acme");
    world.control.clock.advance(recentSignInMs);
    const page = (await world.get(pageOf("changed@acme"), left)).text;
    expect(page).toContain("To change a role, sign in again");
    expect(page).not.toContain('value="role"');
    expect((await world.get(members, left)).text).not.toContain('value="admin"');
    for (const [path, fields] of [
      [pageOf("changed@acme"), { action: "role", role: "auditor" }],
      [members, { action: "invite", email: "late@acme", role: "admin" }],
    ] as const)
      expect((await world.post(path, fields, left)).status).toBe(401);
    expect((await world.post(members, { action: "invite", email: "plain@acme", role: "member" }, left)).status).toBe(303);
  });

  test("a member sees who is here, and nothing of what others spend", async () => {
    const { text } = await world.get(members, await world.signIn("member@acme"));
    expect(text).toContain("auditor@acme");
    expect(text).toContain("Only admins invite members. Your role is member.");
    expect((await world.get(pageOf("auditor@acme"), await world.signIn("member@acme"))).text).toContain(
      "Only admins change members.",
    );
    for (const hidden of ["Spent this month", "Last seen", "Invite a member"]) expect(text).not.toContain(hidden);
  });

  test.each([
    ["members/new", "auditor", "This page requires the admin role. Your role in this workspace is auditor."],
    ["workbench", "auditor", "This page requires the member or admin role. Your role in this workspace is auditor."],
    ["audit", "member", "This page requires the auditor or admin role. Your role in this workspace is member."],
  ])("%s says to the role %s what it requires, and keeps the menu of what they may see", async (page, role, words) => {
    const { status, text } = await world.get(`/console/w/acme/${page}`, await world.signIn(`${role}@acme`));
    expect([status, text.includes(words)]).toEqual([403, true]);
    expect(text).toMatch(/To change your role, ask <bdi>admin@acme<\/bdi>/);
    expect(text).toContain('<a href="/console/w/acme/members"');
    expect(text).not.toContain(`<a href="/console/w/acme/${page}"`);
  });

  test("a member is found by a part of the address once the list is long, and the file has the same rows", async () => {
    for (let index = 0; index < 12; index++)
      await world.control.expect("POST", "/members", {
        body: { workspace: "acme", email: `findable${index}@acme`, role: "member" },
      });
    const auditor = await world.signIn("auditor@acme");
    const path = "/console/w/acme/members";
    expect((await world.get(path, auditor)).text).toContain('name="text" type="search"');
    const { text } = await world.get(`${path}?text=LE11`, auditor);
    expect([text.includes("findable11@acme"), text.includes("findable10@acme")]).toEqual([true, false]);
    const file = (await world.get(`${path}?text=le11&as=csv`, auditor)).text;
    expect(file.trim().split("\r\n").slice(1)).toEqual([expect.stringContaining("findable11@acme")]);
    expect((await world.get(`${path}?text=nobody`, auditor)).text).toContain("No member has this text in the address.");
  });

  test("the operator creates a sign-in link that only this answer shows, and it signs in", async () => {
    await add("linked@acme");
    const created = await world.post(pageOf("linked@acme"), { action: "link" }, await world.signIn(null));
    const [, path = ""] = /https:\/\/weir\.example\.com(\/console\/link\/[\w-]+)/.exec(created.text) ?? [];
    expect([created.status, created.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect((await world.get("/console/account", sessionOf(await world.post(path, {})))).text).toContain("linked@acme");
  });

  test("an invited person without a mail gets a link of the operator", async () => {
    await world.post(members, { action: "invite", email: "waiting@acme", role: "member" }, admin);
    const page = (await world.get(pageOf("waiting@acme"), await world.signIn(null))).text;
    expect([page.includes("invited"), page.includes('value="link"'), page.includes('value="suspend"')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("who was deactivated is not invited, and the refusal says what to do", async () => {
    await add("returns@acme");
    await world.post(pageOf("returns@acme"), { action: "deactivate" }, admin);
    const refused = await world.post(members, { action: "invite", email: "returns@acme", role: "member" }, admin);
    expect([refused.status, refused.text.includes("was deactivated in this workspace: reactivate the member")]).toEqual([
      409,
      true,
    ]);
  });

  test("the operator suspends and deletes an account, and a refusal is said on the page", async () => {
    await add("ended@acme");
    const act = (action: string) => world.post(pageOf("ended@acme"), { action }, operator);
    expect((await act("suspend")).status).toBe(303);
    const refused = await act("lock");
    expect([refused.status, refused.text.includes("it is suspended")]).toEqual([409, true]);
    expect((await world.get(`${pageOf("ended@acme")}/delete`, operator)).text).toContain("cannot be undone");
    expect((await act("delete")).status).toBe(303);
    expect((await world.get(pageOf("ended@acme"), operator)).text).toContain("deleted, for good");
  });

  test("an address that is no member has no page, and the list is a file too", async () => {
    expect((await world.get(pageOf("nobody@acme"), admin)).status).toBe(404);
    const { headers, text } = await world.get(`${members}?as=csv`, admin);
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(text).toStartWith("email,role,state,active_keys,month_spent_usd,last_seen_at\r\n");
    expect(text).toContain('"""><b>@acme",member,active,1,');
  });

  describe("where no mail server is set up", () => {
    const invitationOf = (email: string) => `${pageOf(email)}/invitation`;
    const invite = (email: string, role = "member") => world.post(members, { action: "invite", email, role }, admin);
    const linkIn = ({ text }: { text: string }) =>
      /value="https:\/\/weir\.example\.com(\/console\/link\/[\w-]{43})"/.exec(text)?.[1];
    const create = (email: string, browser = admin) => world.post(invitationOf(email), { action: "create-link" }, browser);
    beforeAll(async () => {
      world.control.parts.sendsMail = false;
      admin = await world.signIn("admin@acme");
    });
    afterAll(() => void (world.control.parts.sendsMail = true));

    test("an admin hands over an invitation's link, shown once and audited; with it the person accepts and signs in, once", async () => {
      const invited = await invite("hand@acme");
      expect([invited.status, invited.headers.get("location")]).toEqual([303, invitationOf("hand@acme")]);
      const list = (await world.get(members, admin)).text;
      expect(list).toMatch(
        /hand@acme<\/bdi>[^]*?<span class="badge warn">invited<\/span> <a href="[^"]*\/invitation">Copy the invitation/,
      );
      const former = linkIn(await create("hand@acme")) ?? "";
      const link = linkIn(await create("hand@acme")) ?? "";
      expect((await world.get(invitationOf("hand@acme"), admin)).text).not.toContain("/console/link/");
      const [audited] = await world.control.list("/audit?workspace=acme&limit=1");
      expect(audited).toMatchObject({ event: "account.link.created", target: "hand@acme", actor: "admin@acme" });
      expect((await world.post(former, {})).status).toBe(404);
      const accepted = await world.post(link, {});
      expect(accepted.status).toBe(303);
      expect((await world.get(members, sessionOf(accepted))).status).toBe(200);
      expect((await world.post(link, {})).status).toBe(404);
      expect(await world.control.list("/members?workspace=acme&email=hand@acme")).toMatchObject([{ state: "active" }]);
      expect((await create("hand@acme")).status).toBe(409);
    });

    test("a link needs a sign-in of the last hour and the right to invite, and an old one its invitation", async () => {
      await invite("rights@acme", "admin");
      for (const email of ["member@acme", "auditor@acme"])
        expect((await create("rights@acme", await world.signIn(email))).status).toBe(403);
      const link = linkIn(await create("rights@acme")) ?? "";
      const late = await world.signIn("admin@acme");
      world.control.clock.advance(recentSignInMs);
      expect((await world.get(invitationOf("rights@acme"), late)).text).toContain("To create the link, sign in again");
      expect((await create("rights@acme", late)).status).toBe(401);
      admin = await world.signIn("admin@acme");
      await world.post(pageOf("rights@acme"), { action: "deactivate" }, admin);
      expect((await world.post(link, {})).headers.get("location") ?? "").not.toContain("/w/acme");
      expect(await world.control.list("/members?workspace=acme&email=rights@acme")).toMatchObject([{ state: "withdrawn" }]);
    });

    test("no admin gets a link for a person who has signed in before, or while mails are sent, or beside another workspace", async () => {
      await invite("known@acme");
      await world.signIn("known@acme");
      const refused = await create("known@acme");
      expect([refused.status, refused.text.includes("they have signed in before")]).toEqual([409, true]);
      await invite("late@acme");
      world.control.parts.sendsMail = true;
      expect((await create("late@acme")).text).toContain("the service sends mails");
      world.control.parts.sendsMail = false;
      await world.control.workspace("elsewhere");
      expect((await create("late@acme")).text).toContain("only the operator creates links");
      const foreign = { as: "admin@elsewhere", body: { workspace: "acme" } };
      expect(await world.control.refusal("POST", "/members/late@acme/link", foreign)).toStartWith("403");
    });
  });
});
