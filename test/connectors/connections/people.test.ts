import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { peopleReadingsPerHourMax, quotaHourMs } from "../../../src/accounts/limits.ts";
import { readDue, startReadings } from "../../../src/connectors/connections/people.ts";
import * as limits from "../../../src/connectors/limits.ts";
import type { SafeFetch } from "../../../src/http/safe-fetch.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Control, objectOf } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";
import { Weir } from "../../support/weir.ts";
import {
  entraPeople,
  gitHubPeople,
  googlePeople,
  oktaPeople,
  startVendorStub,
  tokenVendor,
  type Vendor,
  type VendorStub,
} from "./vendor-stub.ts";
import { publishVendors } from "./vendors.ts";

type Form = Record<string, string>;
const okta: Form = { okta_domain: "acme.okta.com", api_token: "right" };
const entra: Form = { entra_tenant_id: "tenant-1", entra_client_id: "client", entra_client_secret: "right & proper" };
const github: Form = { personal_access_token: "right", orgs: "acme, guests" };
const google: Form = {
  customer_id: "C01",
  administrator_email: "admin@acme.example",
  credentials: JSON.stringify({
    client_email: "reader@acme.iam.gserviceaccount.com",
    private_key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
  }),
};

const staff: [string, string][] = [
  ["zoe@acme.example", "ACTIVE"],
  ["Amy@acme.example", "PASSWORD_EXPIRED"],
  ["new@acme.example", "STAGED"],
  ["out@acme.example", "LOCKED_OUT"],
  ["off@acme.example", "SUSPENDED"],
  ["odd@acme.example", "A_LATER_STATE"],
];

describe.each(oneDatabase)("the people of a connection on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let stub: VendorStub;
  let vendors: Vendor[] = [];
  let number = 0;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    control.connectors.published = await publishVendors(database.sql);
    for (const name of ["acme", "other", "off"]) await control.workspace(name);
    for (const name of ["acme", "other"])
      await control.expect("PATCH", `/workspaces/${name}`, { body: { early_access: ["people"] } });
    stub = startVendorStub([(asked) => vendors.map((vendor) => vendor(asked)).find((answer) => answer !== undefined)]);
  }, 60_000);
  beforeEach(() => {
    stub.asked.length = 0;
    vendors = [tokenVendor, oktaPeople(staff), googlePeople, entraPeople(true), gitHubPeople];
    control.callVendors = stub.callVendors;
    control.clock.advance(quotaHourMs);
  });
  afterAll(async () => {
    await stub[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const connect = async (connector: string, credentials: Form, workspace = "acme"): Promise<string> => {
    const made = await control.expect("POST", "/connections", { body: { workspace, connector, credentials } });
    return String(made["id"]);
  };
  const read = (id: string) => control.expect("POST", `/connections/${id}/people`);
  const show = (id: string, query = "") => control.expect("GET", `/connections/${id}/people${query}`);
  const parts = () => ({
    sql: database.sql,
    keyring: control.keyring,
    callVendors: control.callVendors,
    clock: control.clock,
    log: silentLog,
  });
  const person = (login: string, state: string, second_factor: boolean | null) => ({ login, state, second_factor });

  test.each([
    [
      "okta",
      okta,
      "GET /api/v1/users",
      [
        person("Amy@acme.example", "active", null),
        person("new@acme.example", "pending", null),
        person("odd@acme.example", "unknown", null),
        person("off@acme.example", "suspended", null),
        person("out@acme.example", "locked", null),
        person("zoe@acme.example", "active", null),
      ],
      "one person at a time",
    ],
    [
      "google-workspace",
      google,
      "GET /admin/directory/v1/users",
      [
        person("bob@acme.example", "suspended", false),
        person("liz@acme.example", "active", true),
        person("old@acme.example", "archived", false),
      ],
      null,
    ],
    [
      "microsoft-entra-id",
      entra,
      "GET /v1.0/users",
      [
        person("Adams@contoso.example", "active", true),
        person("guest_acme.example#EXT#@contoso.onmicrosoft.com", "active", null),
        person("left@contoso.example", "disabled", false),
      ],
      "report of authentication methods",
    ],
    [
      "github",
      github,
      "GET /orgs/{org}/members",
      [
        person("hubot", "active", false),
        person("monalisa", "active", true),
        person("octocat", "active", true),
        person("visitor", "active", null),
      ],
      "owners of the organization",
    ],
  ] as const)(
    "at %s are read page by page, with state, and with the second factor where it is told",
    async (connector, form, list, people, why) => {
      const id = await connect(connector, form);
      expect(await show(id)).toEqual({ reading: null, data: [], next: null });
      const at = new Date(control.clock.now()).toISOString();
      const reading = await read(id);
      expect(reading).toEqual({
        connection_id: id,
        list,
        read_at: at,
        people: people.length,
        complete: true,
        second_factor_unknown: why === null ? null : expect.stringContaining(why),
        current: true,
        failure: null,
        next_at: new Date(control.clock.now() + limits.peopleEveryMs).toISOString(),
      });
      expect(await show(id)).toEqual({ reading, data: [...people], next: null });
      expect(stub.asked.every(({ method, url }) => method === "GET" || /token$/.test(url))).toBe(true);
      const audit = await control.list("/audit?event=connection.people.read&limit=1");
      expect(audit).toMatchObject([{ target: id, changes: { outcome: { from: null, to: "works" } } }]);
    },
  );

  test("are kept without names and without anything else that the vendor says", async () => {
    const id = await connect("okta", okta);
    await read(id);
    const rows = await database.sql`SELECT * FROM connection_people WHERE connection_id = ${id}`;
    expect(JSON.stringify([rows, await show(id), control.logged])).not.toMatch(/canary|mail\+|id of/);
  });

  test("at Entra ID are read without a licence for the report, and the answer says why second factors are unknown", async () => {
    vendors = [tokenVendor, entraPeople(false)];
    const id = await connect("microsoft-entra-id", entra);
    expect(String((await read(id))["second_factor_unknown"])).toContain("AuditLog.Read.All");
    const { data } = await show(id);
    expect(data).toContainEqual(person("Adams@contoso.example", "active", null));
  });

  test("are replaced by the next reading, and nothing of the one before stays", async () => {
    const id = await connect("okta", okta);
    await read(id);
    vendors = [oktaPeople([["zoe@acme.example", "SUSPENDED"]])];
    expect(await read(id)).toMatchObject({ people: 1 });
    expect((await show(id))["data"]).toEqual([person("zoe@acme.example", "suspended", null)]);
    expect(await database.sql`SELECT FROM connection_people WHERE connection_id = ${id}`).toHaveLength(1);
  });

  test("are listed in pages by login, and as CSV and NDJSON whole, each with the time of the reading", async () => {
    vendors = [
      oktaPeople([
        ["=cmd()@acme.example", "ACTIVE"],
        ["b@acme.example", "ACTIVE"],
        ["c@acme.example", "SUSPENDED"],
      ]),
    ];
    const id = await connect("okta", okta);
    const { read_at: at } = await read(id);
    const first = await show(id, "?limit=2");
    expect(first).toMatchObject({
      data: [{ login: "=cmd()@acme.example" }, { login: "b@acme.example" }],
      next: "b@acme.example",
    });
    expect(await show(id, "?limit=2&after=B@acme.example")).toMatchObject({ data: [{ login: "c@acme.example" }], next: null });
    expect(await control.refusal("GET", `/connections/${id}/people?limit=20001`)).toBe("400 invalid_field limit");
    expect(await control.refusal("GET", `/connections/${id}/people?format=xml`)).toBe("400 invalid_field format");
    const { url, stop } = control.listen();
    const file = async (format: string) => {
      const headers = { authorization: "Bearer operator-token-of-the-tests" };
      const answer = await fetch(`${url}/api/console/connections/${id}/people?format=${format}&limit=1`, { headers });
      return [answer.headers.get("content-disposition"), await answer.text()];
    };
    expect(await file("csv")).toEqual([
      `attachment; filename="people-${id}.csv"`,
      `login,state,second_factor,read_at\r\n'=cmd()@acme.example,active,,${at}\r\nb@acme.example,active,,${at}\r\nc@acme.example,suspended,,${at}\r\n`,
    ]);
    const [name, lines] = await file("ndjson");
    expect(name).toContain(".ndjson");
    expect(String(lines).split("\n").slice(2)).toEqual([
      JSON.stringify({ ...person("c@acme.example", "suspended", null), read_at: at }),
      "",
    ]);
    await stop();
  });

  test("have a command line that reads, lists and forgets them, also as CSV", async () => {
    await using weir = new Weir(control);
    const id = await connect("google-workspace", google);
    expect(await weir.json("connection", "read-people", "--id", id)).toMatchObject({ people: 3 });
    expect((await weir.json("connection", "people", "--id", id))["data"]).toHaveLength(3);
    const { out } = await weir.run("connection", "people", "--id", id);
    expect(out).toMatch(/bob@acme\.example\s+suspended\s+no[\s\S]+3 people, read at .* from GET \/admin\/directory\/v1\/users/);
    const csv = await weir.run("connection", "people", "--id", id, "--format", "csv");
    expect(csv.out).toContain("liz@acme.example,active,true,2026-");
    const lines = await weir.run("connection", "people", "--id", id, "--format", "ndjson");
    expect(
      lines.out
        .trim()
        .split("\n")
        .map((line) => objectOf(JSON.parse(line))["login"]),
    ).toEqual(["bob@acme.example", "liz@acme.example", "old@acme.example"]);
    expect(await weir.json("connection", "forget-people", "--id", id)).toEqual({ id, forgotten: true });
    expect(await weir.json("connection", "forget-people", "--id", id)).toEqual({ id, forgotten: false });
    expect((await weir.json("connection", "people", "--id", id))["reading"]).toBeNull();
  });

  // What goes wrong at a vendor

  const page = (headers: Record<string, string> = {}, rows: unknown = []): Vendor => {
    return () => Response.json(rows, { headers });
  };
  const refusing = (status: number, body: unknown = { error: "canary" }, headers: Record<string, string> = {}): Vendor => {
    return ({ method }) => (method === "GET" ? Response.json(body, { status, headers }) : undefined);
  };
  const googleError = (reason: string) => ({ error: { code: 403, message: "canary", errors: [{ domain: "global", reason }] } });
  const link = (address: string) => ({ link: `<${address}>; rel="next"` });
  const tokenRefusal = (error: string, status: number): Vendor => {
    return ({ method }) => (method === "POST" ? Response.json({ error, error_description: "canary" }, { status }) : undefined);
  };
  let turn = 0;

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
      const id = await connect(connector, form);
      await database.sql`
      INSERT INTO people_readings (connection_id, read_at, is_complete, due_at) VALUES (${id}, '2026-11-01T00:00:00Z', true, now())`;
      await database.sql`INSERT INTO connection_people VALUES (${id}, 'kept', 'kept', 'active', true)`;
      vendors = bad;
      const at = new Date(control.clock.now()).toISOString();
      const reading = await read(id);
      expect(reading["failure"]).toMatchObject({ outcome, since: at, at, message: expect.stringContaining(words) });
      expect(reading).toMatchObject({ read_at: "2026-11-01T00:00:00.000Z", people: 1, complete: true });
      expect((await show(id))["data"]).toEqual([person("kept", "active", true)]);
      expect(stub.asked.some(({ url }) => /thief|169\.254/.test(url))).toBe(false);
      control.clock.advance(60_000);
      expect((await read(id))["failure"]).toMatchObject({ since: at, at: new Date(control.clock.now()).toISOString() });
      const audit = await control.list("/audit?event=connection.people.read&limit=1");
      expect(audit).toMatchObject([{ changes: { outcome: { to: outcome } } }]);
      expect(JSON.stringify([reading, audit, control.logged])).not.toContain("canary");
      vendors = [tokenVendor, oktaPeople(staff), googlePeople, entraPeople(true), gitHubPeople];
      if (outcome !== "unusable") expect(await read(id)).toMatchObject({ failure: null, current: true });
    },
  );

  test("beyond twenty thousand are left out, and the reading says that they are not all", async () => {
    vendors = [
      ({ url }) => {
        const from = Number(new URL(url).searchParams.get("after") ?? 0);
        const rows = Array.from({ length: 200 }, (_, at) => ({ status: "ACTIVE", profile: { login: `p${from + at}` } }));
        return Response.json(rows, { headers: link(`/api/v1/users?after=${from + 200}`) });
      },
    ];
    const id = await connect("okta", okta);
    expect(await read(id)).toMatchObject({ people: limits.peopleMax, complete: false, failure: null });
    expect(stub.asked).toHaveLength(limits.peopleMax / 200 + 1);
    expect((await show(id, "?limit=20000"))["data"]).toHaveLength(limits.peopleMax);
  });

  test("are asked for again after the time that a busy vendor names", async () => {
    const id = await connect("okta", okta);
    const busy = [refusing(429, {}, { "retry-after": "7" }), refusing(503)];
    vendors = [(asked) => busy.shift()?.(asked), oktaPeople(staff)];
    const reading = read(id);
    await until(() => stub.asked.length === 1);
    await control.clock.pass(6_999);
    expect(stub.asked).toHaveLength(1);
    await control.clock.pass(1);
    await until(() => stub.asked.length === 2);
    await control.clock.pass(2_000);
    expect(await reading).toMatchObject({ people: staff.length, failure: null });
  });

  test("of a list without an end are not read", async () => {
    const id = await connect("okta", okta);
    let calls = 0;
    control.callVendors = async () => ({
      status: 200,
      headers: link(`/api/v1/users?after=${++calls}`),
      body: Buffer.from("[]"),
    });
    expect((await read(id))["failure"]).toMatchObject({
      outcome: "unexpected",
      message: `The vendor's list did not end within ${limits.peopleCallsMax} requests`,
    });
    expect(calls).toBe(limits.peopleCallsMax);
  });

  test("are not waited for longer than a few minutes, although the vendor answers now and then", async () => {
    const id = await connect("okta", okta);
    vendors = [
      () => {
        control.clock.advance(30_000);
        return Response.json([], { headers: link(`/api/v1/users?after=${++turn}`) });
      },
    ];
    expect((await read(id))["failure"]).toMatchObject({ outcome: "unexpected", message: expect.stringContaining("3 minutes") });
  });

  // Daily

  test("are read again a day after someone asked for the first reading, by one process alone", async () => {
    await database.sql`DELETE FROM people_readings`;
    const id = await connect("okta", okta);
    expect(await readDue(parts())).toBe(false);
    await read(id);
    stub.asked.length = 0;
    control.clock.advance(limits.peopleEveryMs - 1);
    expect(await readDue(parts())).toBe(false);
    control.clock.advance(1);
    const both = await Promise.all([readDue(parts()), readDue(parts())]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(stub.asked).toHaveLength(3);
    expect((await show(id))["reading"]).toMatchObject({ read_at: new Date(control.clock.now()).toISOString() });
  });

  test("are looked for by each process each minute, which ends a reading at once when it stops", async () => {
    await database.sql`DELETE FROM people_readings`;
    const id = await connect("okta", okta);
    await read(id);
    control.clock.advance(limits.peopleEveryMs);
    let isAsked = false;
    const silent: SafeFetch = () => {
      isAsked = true;
      return new Promise(() => {});
    };
    const process_ = startReadings({ ...parts(), callVendors: silent });
    await control.clock.pass(limits.peopleLookMs);
    await until(() => isAsked);
    expect(await control.refusal("POST", `/connections/${id}/people`)).toBe("409 conflict null");
    await process_[Symbol.asyncDispose]();
    expect(await readDue(parts())).toBe(true);
    expect((await show(id))["reading"]).toMatchObject({ failure: null, read_at: new Date(control.clock.now()).toISOString() });
  });

  test("are read by another process when the one that has the lease dies", async () => {
    await database.sql`DELETE FROM people_readings`;
    const id = await connect("okta", okta);
    const now = new Date(control.clock.now());
    const leaseEnds = new Date(control.clock.now() + limits.peopleLeaseMs);
    await database.sql`
      INSERT INTO people_readings (connection_id, due_at, lease, lease_until) VALUES (${id}, ${now}, 'of the dead', ${leaseEnds})`;
    expect(await readDue(parts())).toBe(false);
    control.clock.advance(limits.peopleLeaseMs);
    expect(await readDue(parts())).toBe(true);
    expect((await show(id))["reading"]).toMatchObject({ people: staff.length });
  });

  test("are tried again within an hour where the cause passes, else the next day", async () => {
    const id = await connect("okta", okta);
    const waits = async (vendor: Vendor) => {
      vendors = [vendor];
      return Date.parse(String((await read(id))["next_at"])) - control.clock.now();
    };
    expect(await waits(refusing(429, {}, { "retry-after": "3600" }))).toBe(limits.peopleRetryMs);
    expect(await waits(refusing(403))).toBe(limits.peopleEveryMs);
  });

  test("are read no more where the operator takes the early access away, and can be deleted all the same", async () => {
    await database.sql`DELETE FROM people_readings`;
    const id = await connect("okta", okta, "other");
    await read(id);
    await control.expect("PATCH", "/workspaces/other", { body: { early_access: [] } });
    control.clock.advance(limits.peopleEveryMs);
    expect(await readDue(parts())).toBe(false);
    for (const method of ["GET", "POST"])
      expect(await control.refusal(method, `/connections/${id}/people`)).toBe("404 not_found null");
    expect(await control.expect("DELETE", `/connections/${id}/people`)).toEqual({ id, forgotten: true });
    await control.expect("PATCH", "/workspaces/other", { body: { early_access: ["people"] } });
    expect((await show(id))["reading"]).toBeNull();
  });

  // Credentials and connections that change

  test("read with former credentials are marked, and are read again at once", async () => {
    await database.sql`DELETE FROM people_readings`;
    const id = await connect("okta", okta);
    await read(id);
    control.clock.advance(1_000);
    await control.expect("PUT", `/connections/${id}/credentials`, { body: { credentials: okta } });
    expect((await show(id))["reading"]).toMatchObject({ current: false, people: staff.length });
    expect(await readDue(parts())).toBe(true);
    expect((await show(id))["reading"]).toMatchObject({ current: true });
  });

  test.each(["replaced", "deleted"])("are not stored if the connection is %s meanwhile", async (what) => {
    const id = await connect("okta", okta);
    await read(id);
    control.clock.advance(1_000);
    control.callVendors = async (request) => {
      if (what === "deleted") await control.expect("DELETE", `/connections/${id}`);
      else await control.expect("PUT", `/connections/${id}/credentials`, { body: { credentials: okta } });
      return stub.callVendors({ ...request, url: new URL("https://acme.okta.com/api/v1/users?limit=200&after=4") });
    };
    expect(await control.refusal("POST", `/connections/${id}/people`)).toBe("409 conflict null");
    const rows = await database.sql`SELECT FROM connection_people WHERE connection_id = ${id}`;
    expect(rows).toHaveLength(what === "deleted" ? 0 : staff.length);
    if (what === "replaced") control.callVendors = stub.callVendors;
    if (what === "replaced") expect(await readDue(parts())).toBe(true);
  });

  test("go with the connection", async () => {
    const id = await connect("okta", okta);
    await read(id);
    await control.expect("DELETE", `/connections/${id}`);
    for (const table of ["people_readings", "connection_people"])
      expect(await database.sql.unsafe(`SELECT FROM ${table} WHERE connection_id = '${id}'`)).toHaveLength(0);
  });

  test("are in the workspace's evidence, which another workspace's does not have", async () => {
    const id = await connect("google-workspace", google);
    await read(id);
    const files = async (workspace: string) => (await control.expect("GET", `/evidence?workspace=${workspace}`))["files"];
    expect(await files("acme")).toContainEqual(expect.objectContaining({ name: `people/${id}.csv` }));
    expect(JSON.stringify(await files("other"))).not.toContain(id);
  });

  // Who may

  test.each([
    ["member", "403 forbidden null", "403 forbidden null"],
    ["auditor", "200", "403 forbidden null"],
    ["admin", "200", "200"],
    ["super_admin", "200", "200"],
  ])("are for %s to list: %s, and to read and to forget: %s", async (role, lists, changes) => {
    const id = await connect("okta", okta);
    const answer = async (method: string) => {
      const { status } = await control.call(method, `/connections/${id}/people`, { as: `${role}@acme` });
      return status === 200 ? "200" : control.refusal(method, `/connections/${id}/people`, { as: `${role}@acme` });
    };
    expect([await answer("GET"), await answer("POST"), await answer("DELETE")]).toEqual([lists, changes, changes]);
  });

  test("of another workspace are not found", async () => {
    const id = await connect("okta", okta);
    for (const method of ["GET", "POST", "DELETE"])
      expect(await control.refusal(method, `/connections/${id}/people`, { as: "super_admin@other" })).toBe("404 not_found id");
    expect(stub.asked).toEqual([]);
  });

  test.each([
    ["another vendor", "generic", { api_token: "a" }, "reads no people"],
    ["GitHub without organizations", "github", { personal_access_token: "right" }, "personal_access_token, orgs are needed"],
  ])("of %s are refused with the cause", async (_what, connector, form, words) => {
    const id = await connect(connector, form as unknown as Form);
    const { status, body } = await control.call("POST", `/connections/${id}/people`);
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining(words)]);
  });

  test("are read thirty times an hour, so that no one finds out by trying which credentials work", async () => {
    const id = await connect("okta", okta);
    vendors = [refusing(401)];
    for (number = 0; number < peopleReadingsPerHourMax; number++) await read(id);
    expect((await control.call("POST", `/connections/${id}/people`)).status).toBe(429);
  });
});
