/** Signing in by OpenID Connect, with a real provider in this process. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { oidcSignInMs } from "../../../src/accounts/limits.ts";
import { OidcProvider, oidcReturnPath } from "../../../src/accounts/oidc/oidc-provider.ts";
import { signInNotes, type SignInNote } from "../../../src/accounts/oidc/oidc-sign-in.ts";
import { openNote, sealNote } from "../../../src/accounts/secrets/keyring.ts";
import { ConsoleWorld, sessionOf, type Shown } from "../../support/console.ts";
import { cookiesOf } from "../../support/sign-in/cookies.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { OidcServer, type OidcPerson } from "../../support/servers/oidc-server.ts";

const publicUrl = "https://weir.example.com";
const member = { subject: "1", email: "Member@acme", verified: true };

describe.each(oneDatabase)("OpenID Connect on $name", ({ open }) => {
  let database: TestDatabase;
  let world: ConsoleWorld;
  let server: OidcServer;
  let other: OidcServer;
  beforeAll(async () => {
    database = await open();
    world = new ConsoleWorld(database.sql);
    await world.control.workspace("acme");
    server = await OidcServer.start(publicUrl + oidcReturnPath);
    other = await OidcServer.start(publicUrl + oidcReturnPath, "user info");
    use(server);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const use = ({ config }: OidcServer) => {
    world.control.parts.oidc = new OidcProvider({ config, publicUrl, clock: world.control.clock });
  };
  const begin = (query = "") => world.get(`/console/sign-in/oidc${query}`);
  const atProvider = (begun: Shown, person: OidcPerson, at = server) => at.signIn(begun.headers.get("location") ?? "", person);
  const comeBack = (query: URLSearchParams, begun: { headers: Headers } | string) =>
    world.get(`${oidcReturnPath}?${query.toString()}`, undefined, {
      cookie: typeof begun === "string" ? begun : cookiesOf(begun),
    });
  const signIn = async (person: OidcPerson, at = server) => {
    const begun = await begin();
    return comeBack(await atProvider(begun, person, at), begun);
  };
  const refusalOf = ({ status, headers, text }: Shown) => {
    expect(headers.get("set-cookie")).not.toMatch(/(^|, )weir=/);
    return `${status} ${/class="notice bad"[^>]*>(?:<bdi>)?([^<]*)</.exec(text)?.[1] ?? ""}`;
  };
  const failed = "401 Signing in with Example ID did not succeed: begin again.";
  const stranger =
    "401 This account of Example ID cannot sign in here: ask an admin of your workspace to invite its verified e-mail address.";

  test("a member signs in by a verified address, which links the account once, and goes on to the page", async () => {
    expect((await world.get("/console/sign-in")).text).toContain("Sign in with Example ID");
    const begun = await begin("?next=%2Fconsole%2Faccount");
    const url = new URL(begun.headers.get("location") ?? "");
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      code_challenge_method: "S256",
      redirect_uri: "https://weir.example.com/console/sign-in/oidc/return",
    });
    expect(begun.headers.get("set-cookie")).toContain("HttpOnly; SameSite=Lax; Path=/; Max-Age=600");
    const back = await comeBack(await atProvider(begun, member), begun);
    expect([back.status, back.headers.get("location")]).toEqual([303, "/console/account"]);
    expect((await world.get("/console/account", sessionOf(back))).text).toContain("member@acme");
    // Afterwards the provider's own name for the person counts, whatever the address has become.
    for (const email of ["new@elsewhere", "admin@acme"]) {
      const again = await signIn({ ...member, email });
      expect((await world.get("/console/account", sessionOf(again))).text).toContain("member@acme");
    }
    const [linked, ...more] = await world.control.list("/audit?workspace=acme&event=account.oidc.linked");
    expect([linked?.["actor"], linked?.["changes"], more]).toEqual([
      "member@acme",
      { issuer: { from: null, to: server.issuer } },
      [],
    ]);
  });

  test("an invited person signs in, and finds the invitation before anything else", async () => {
    const body = { workspace: "acme", email: "invited@acme", role: "auditor" };
    await world.control.expect("POST", "/members", { body, as: "admin@acme" });
    const browser = sessionOf(await signIn({ subject: "invited", email: "invited@acme", verified: true }));
    expect((await world.get("/console", browser)).headers.get("location")).toBe("/console/invitations");
    expect((await world.get("/console/w/acme/keys", browser)).status).toBe(404);
    await world.post("/console/invitations", { action: "accept", workspace: "acme", name: "acme" }, browser);
    expect((await world.get("/console/w/acme/keys", browser)).status).toBe(200);
  });

  test("with a provider the second factor of admins is left to it", async () => {
    const back = await signIn({ subject: "2", email: "admin@acme", verified: true });
    expect([back.status, back.headers.get("location")]).toEqual([303, "/console"]);
  });

  test("an answer counts only for the sign-in that this browser began, once and within ten minutes", async () => {
    const begun = await begin();
    const query = await atProvider(begun, member);
    const wrongState = new URLSearchParams(query);
    wrongState.set("state", "another");
    expect(refusalOf(await comeBack(wrongState, begun))).toBe(failed);
    expect(refusalOf(await comeBack(query, "none=1"))).toContain("began in another browser");
    expect(refusalOf(await comeBack(query, await begin()))).toBe(failed);
    expect((await comeBack(query, begun)).status).toBe(303);
    expect(refusalOf(await comeBack(query, begun))).toBe(failed);
    const late = await begin();
    const lateQuery = await atProvider(late, member);
    world.control.clock.advance(oidcSignInMs);
    expect(refusalOf(await comeBack(lateQuery, late))).toContain("took more than ten minutes");
  });

  test("a second code for a sign-in that was used opens nothing", async () => {
    const begun = await begin();
    const first = await atProvider(begun, member);
    const second = await atProvider(begun, member);
    expect((await comeBack(first, begun)).status).toBe(303);
    expect(refusalOf(await comeBack(second, begun))).toContain("was used already");
  });

  test("an ID token with another nonce, and a code for another verifier, are refused", async () => {
    for (const changed of [{ nonce: "another" }, { verifier: "v".repeat(43) }]) {
      const begun = await begin();
      const query = await atProvider(begun, member);
      expect(refusalOf(await comeBack(query, `weir-oidc=${resealed(cookiesOf(begun), changed)}`))).toBe(failed);
    }
  });

  test("strangers, unverified addresses and inactive people get one message, and no account is made", async () => {
    const accounts = async () => (await database.sql`SELECT email FROM accounts`).length;
    const before = await accounts();
    expect(refusalOf(await signIn({ subject: "3", email: "stranger@elsewhere", verified: true }))).toBe(stranger);
    expect(refusalOf(await signIn({ subject: "4", email: "auditor@acme", verified: false }))).toBe(stranger);
    // The next owner of an address is another person at the provider.
    expect(refusalOf(await signIn({ ...member, subject: "5" }))).toBe(stranger);
    await world.control.expect("POST", "/accounts/member@acme/suspend");
    expect(refusalOf(await signIn(member))).toBe(stranger);
    await world.control.expect("POST", "/accounts/member@acme/unsuspend");
    const auditor = { subject: "6", email: "auditor@acme", verified: true };
    expect((await signIn(auditor)).status).toBe(303);
    await world.control.expect("POST", "/members/auditor@acme/deactivate", { body: { workspace: "acme" } });
    expect(refusalOf(await signIn(auditor))).toBe(stranger);
    expect(await accounts()).toBe(before);
    expect(world.control.logged.join("")).not.toContain("elsewhere");
  });

  test("the same subject of another issuer is another person, whose address may come from the page about the user", async () => {
    use(other);
    expect(refusalOf(await signIn({ subject: "1", email: "stranger@elsewhere", verified: true }, other))).toBe(stranger);
    const admin = { subject: "1", email: "admin@acme", verified: true };
    expect((await world.get("/console/account", sessionOf(await signIn(admin, other)))).text).toContain("admin@acme");
    use(server);
    expect((await world.get("/console/account", sessionOf(await signIn(member)))).text).toContain("member@acme");
  });

  test("after a reset by the operator the account can be linked anew", async () => {
    expect(await world.control.expect("POST", "/accounts/member@acme/reset")).toEqual({ second_factor: false, oidc: true });
    expect((await signIn({ ...member, subject: "7" })).status).toBe(303);
    expect(refusalOf(await signIn(member))).toBe(stranger);
  });

  test("a new sign-in for an action asks the provider for a recent one, and an old one there stays old here", async () => {
    const signedIn = await signIn({ ...member, subject: "7" });
    const page = await world.get("/console/sign-in?again=yes&next=%2Fconsole%2Faccount", sessionOf(signedIn));
    const [, link = ""] = /href="(\/console\/sign-in\/oidc\?[^"]*)"/.exec(page.text) ?? [];
    const begun = await world.get(link.replaceAll("&#38;", "&"), sessionOf(signedIn));
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("max_age")).toBe("3600");
    // The provider tells when the person signed in there, by the real time. With this clock a month ahead, that is long ago.
    world.control.clock.advance(30 * 86_400_000);
    const old = sessionOf(await signIn({ ...member, subject: "7" }));
    expect((await world.post("/console/account", { action: "set-up-second-factor" }, old)).status).toBe(401);
  });

  test("a provider that is away is named, and passwords go on", async () => {
    const away = await OidcServer.start(publicUrl + oidcReturnPath);
    use(away);
    await away[Symbol.asyncDispose]();
    expect(refusalOf(await begin())).toBe("503 Example ID cannot be reached at present: try again shortly.");
    expect((await world.get("/console/sign-in")).status).toBe(200);
    use(server);
  });

  /** The browser's note with another content, as only the service could seal it. */
  const resealed = (cookie: string, changed: Partial<SignInNote>) => {
    const { keyring, clock } = world.control;
    const sources = { keyring, nowMs: clock.now() };
    const note = openNote(signInNotes, cookie.replace("weir-oidc=", ""), sources);
    if (note === null) throw new Error("The cookie holds no note");
    return sealNote(signInNotes, { ...note, ...changed }, sources);
  };
});
