/** Failures at a vendor: each has its own outcome, the last good reading stays, and no text of the vendor appears. */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as limits from "../../../src/connectors/limits.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import {
  entra,
  github,
  gitHubAppForm,
  google,
  link,
  okta,
  oktaAppForm,
  PeopleWorld,
  person,
  refusing,
  type Form,
} from "./people-world.ts";
import { tokenVendor, type Vendor } from "./vendor-stub.ts";

describe.each(oneDatabase)("people of a connection on $name", ({ open }) => {
  let world: PeopleWorld;
  beforeAll(async () => {
    world = await PeopleWorld.open(await open());
  }, 60_000);
  beforeEach(() => world.refresh());
  afterAll(() => world[Symbol.asyncDispose]());

  /** @param posted the status of the answer to what is posted */
  const page = (headers: Record<string, string> = {}, rows: unknown = [], posted = 200): Vendor => {
    return ({ method }) => Response.json(rows, { headers, status: method === "POST" ? posted : 200 });
  };
  const curve = (namedCurve: string) =>
    generateKeyPairSync("ec", { namedCurve }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const [ec, p384] = [curve("P-256"), curve("P-384")];
  const googleError = (reason: string) => ({ error: { code: 403, message: "canary", errors: [{ domain: "global", reason }] } });
  const tokenRefusal = (error: string, status: number): Vendor => {
    return ({ method }) => (method === "POST" ? Response.json({ error, error_description: "canary" }, { status }) : undefined);
  };

  test("of a vendor that answers without an end are not read, and the answer is cut off", async () => {
    const id = await world.connect("okta", okta);
    const piece = new Uint8Array(1024 * 1024).fill(0x20);
    let sent = 0;
    world.vendors = [
      () => {
        const pull = (body: ReadableStreamDefaultController): void => {
          if (++sent < 2_048) body.enqueue(piece);
          else body.close();
        };
        return new Response(new ReadableStream({ pull }));
      },
    ];
    expect((await world.read(id))["failure"]).toMatchObject({
      outcome: "unreachable",
      message: expect.stringContaining("too large"),
    });
    expect(sent).toBeLessThan(256);
  });

  test.each<[string, string, Form, Vendor[], string, string]>([
    ["refused credentials", "okta", okta, [refusing(401)], "refused", "refused the credentials"],
    ["a missing role", "okta", okta, [refusing(403)], "lacks_grant", "Read-only Administrator"],
    ["an app that Okta does not know", "okta", oktaAppForm, [tokenRefusal("invalid_client", 401)], "refused", "refused"],
    ["a scope that is missing", "okta", oktaAppForm, [tokenRefusal("invalid_scope", 400)], "lacks_grant", "okta.users.read"],
    ["an app that demands DPoP", "okta", oktaAppForm, [tokenRefusal("invalid_dpop_proof", 400)], "lacks_grant", "without DPoP"],
    ["a key that is none", "okta", { ...oktaAppForm, private_key: "canary" }, [], "unusable", '"private_key"'],
    ["a key of another curve", "okta", { ...oktaAppForm, private_key: p384 }, [], "unusable", "RSA or P-256"],
    ["a key that GitHub cannot use", "github", { ...gitHubAppForm, github_app_private_key: ec }, [], "unusable", "RSA"],
    ["two organizations of an app", "github", { ...gitHubAppForm, organization: "a, b" }, [], "unusable", '"organization"'],
    ["an app that is not installed", "github", gitHubAppForm, [refusing(404)], "lacks_grant", "installed in the organization"],
    ["an app that may not read members", "github", gitHubAppForm, [page({}, { id: 5 }, 422)], "lacks_grant", "Members: Read"],
    ["an app that is suspended", "github", gitHubAppForm, [page({}, { id: 5 }, 403)], "lacks_grant", "Members: Read"],
    ["an installation without an id", "github", gitHubAppForm, [page({}, { id: "../5" })], "unexpected", "not the list"],
    [
      "a token with a line break",
      "github",
      gitHubAppForm,
      [page({}, { id: 5, token: "a\r\nhost: thief.example" }, 201)],
      "unexpected",
      "not the list",
    ],
    [
      "a redirect into the own network",
      "okta",
      okta,
      [refusing(302, {}, { location: "http://169.254.169.254/latest/meta-data" })],
      "unexpected",
      "status 302",
    ],
    [
      "a token’s redirect into the own network",
      "okta",
      oktaAppForm,
      [() => new Response(null, { status: 307, headers: { location: "http://169.254.169.254/latest" } })],
      "unexpected",
      "status 307",
    ],
    ["a moved address", "okta", okta, [refusing(404)], "unexpected", "no such list"],
    ["a redirect", "okta", okta, [refusing(302, {}, { location: "https://acme.okta.com/" })], "unexpected", "status 302"],
    ["too many requests for long", "okta", okta, [refusing(429, {}, { "retry-after": "3600" })], "rate_limited", "too many"],
    [
      "a limit that ends late",
      "okta",
      okta,
      [refusing(429, {}, { "x-rate-limit-reset": "9999999999" })],
      "rate_limited",
      "too many",
    ],
    [
      "GitHub’s limit in a 403",
      "github",
      github,
      [refusing(403, {}, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9999999999" })],
      "rate_limited",
      "too many",
    ],
    ["a token that may not see members", "github", github, [refusing(403)], "lacks_grant", "Members: Read"],
    ["an organization that GitHub hides", "github", github, [refusing(404)], "lacks_grant", "Members: Read"],
    [
      "an invitation that was not accepted",
      "github",
      github,
      [page({}, { state: "pending", role: "member" })],
      "lacks_grant",
      "Members",
    ],
    ["names that are none", "github", { ...github, orgs: "../../user" }, [], "unusable", '"orgs"'],
    [
      "Google’s limit in a 403",
      "google-workspace",
      google,
      [tokenVendor, refusing(403, googleError("dailyLimitExceeded"), { "retry-after": "100000" })],
      "rate_limited",
      "too many",
    ],
    [
      "an administrator without rights",
      "google-workspace",
      google,
      [tokenVendor, refusing(403, googleError("forbidden"))],
      "lacks_grant",
      "admin.directory.user.readonly",
    ],
    [
      "a delegation that is missing",
      "google-workspace",
      google,
      [tokenRefusal("unauthorized_client", 401)],
      "lacks_grant",
      "delegation",
    ],
    ["a deleted service account", "google-workspace", google, [tokenRefusal("invalid_grant", 400)], "refused", "refused"],
    ["a wrong client secret", "microsoft-entra-id", entra, [tokenRefusal("invalid_client", 401)], "refused", "refused"],
    ["a missing consent", "microsoft-entra-id", entra, [tokenVendor, refusing(403)], "lacks_grant", "User.Read.All"],
    ["a captive portal", "okta", okta, [() => new Response("<html>canary</html>")], "unexpected", "not the list"],
    ["another encoding", "okta", okta, [() => new Response(Bun.gzipSync("[]"))], "unexpected", "not the list"],
    ["another form", "okta", okta, [page({}, { users: [] })], "unexpected", "not the list"],
    ["a row without its login", "okta", okta, [page({}, [{ status: "ACTIVE", profile: {} }])], "unexpected", "not the list"],
    [
      "a login that is a page",
      "okta",
      okta,
      [page({}, [{ status: "ACTIVE", profile: { login: "<b>\u202e x" } }])],
      "unexpected",
      "not the list",
    ],
    [
      "a next page on another host",
      "okta",
      okta,
      [page(link("https://thief.example/api/v1/users"))],
      "unexpected",
      "another host",
    ],
    [
      "a next page without encryption",
      "okta",
      okta,
      [page(link("http://acme.okta.com/api/v1/users"))],
      "unexpected",
      "another host",
    ],
    [
      "a next page in the own network",
      "okta",
      okta,
      [page(link("https://169.254.169.254/latest"))],
      "unexpected",
      "another host",
    ],
    ["a next page that is the first", "okta", okta, [page(link("/api/v1/users?limit=200"))], "unexpected", "begins again"],
    [
      "a next link to elsewhere in JSON",
      "microsoft-entra-id",
      entra,
      [tokenVendor, page({}, { value: [], "@odata.nextLink": "https://thief.example/v1.0/users" })],
      "unexpected",
      "another host",
    ],
    [
      "a page that repeats its token",
      "google-workspace",
      google,
      [tokenVendor, page({}, { nextPageToken: "again" })],
      "unexpected",
      "begins again",
    ],
    [
      "a page that is too large",
      "okta",
      okta,
      [() => new Response(" ".repeat(limits.peoplePageBytesMax + 1))],
      "unreachable",
      "too large",
    ],
    [
      "a page with too many values",
      "okta",
      okta,
      [() => new Response(`[${"0,".repeat(limits.peoplePageValuesMax)}0]`)],
      "unexpected",
      "not the list",
    ],
  ])(
    "after %s at %s are those of the last good reading, and the answer says since when and why",
    async (_what, connector, form, bad, outcome, words) => {
      const id = await world.connect(connector, form);
      await world.database.sql`
      INSERT INTO people_readings (connection_id, read_at, is_complete, due_at) VALUES (${id}, '2026-11-01T00:00:00Z', true, now())`;
      await world.database.sql`INSERT INTO connection_people VALUES (${id}, 'kept', 'kept', 'active', true)`;
      world.vendors = bad;
      const at = new Date(world.control.clock.now()).toISOString();
      const reading = await world.read(id);
      expect(reading["failure"]).toMatchObject({ outcome, since: at, at, message: expect.stringContaining(words) });
      expect(reading).toMatchObject({ read_at: "2026-11-01T00:00:00.000Z", people: 1, complete: true });
      expect((await world.show(id))["data"]).toEqual([person("kept", "active", true)]);
      expect(world.stub.asked.some(({ url }) => /thief|169\.254/.test(url))).toBe(false);
      world.control.clock.advance(60_000);
      expect((await world.read(id))["failure"]).toMatchObject({
        since: at,
        at: new Date(world.control.clock.now()).toISOString(),
      });
      const audit = await world.control.list("/audit?event=connection.people.read&limit=1");
      expect(audit).toMatchObject([{ changes: { outcome: { to: outcome } } }]);
      expect(JSON.stringify([reading, audit, world.control.logged])).not.toContain("canary");
      world.restoreVendors();
      if (outcome !== "unusable") expect(await world.read(id)).toMatchObject({ failure: null, current: true });
    },
  );
});
