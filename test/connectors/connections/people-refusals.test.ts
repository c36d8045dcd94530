/** Failures at a vendor: each has its own outcome, the last good reading stays, and no text of the vendor appears. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import * as limits from "../../../src/connectors/limits.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { entra, github, google, goodVendors, link, okta, PeopleWorld, person, refusing, type Form } from "./people-world.ts";
import { tokenVendor, type Vendor } from "./vendor-stub.ts";

describe.each(oneDatabase)("people of a connection on $name", ({ open }) => {
  let world: PeopleWorld;
  beforeAll(async () => {
    world = await PeopleWorld.open(await open());
  }, 60_000);
  beforeEach(() => world.refresh());
  afterAll(() => world[Symbol.asyncDispose]());

  const page = (headers: Record<string, string> = {}, rows: unknown = []): Vendor => {
    return () => Response.json(rows, { headers });
  };
  const googleError = (reason: string) => ({ error: { code: 403, message: "canary", errors: [{ domain: "global", reason }] } });
  const tokenRefusal = (error: string, status: number): Vendor => {
    return ({ method }) => (method === "POST" ? Response.json({ error, error_description: "canary" }, { status }) : undefined);
  };

  test.each<[string, string, Form, Vendor[], string, string]>([
    ["refused credentials", "okta", okta, [refusing(401)], "refused", "refused the credentials"],
    ["a missing role", "okta", okta, [refusing(403)], "lacks_grant", "Read-only Administrator"],
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
      world.vendors = goodVendors();
      if (outcome !== "unusable") expect(await world.read(id)).toMatchObject({ failure: null, current: true });
    },
  );
});
