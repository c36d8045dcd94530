import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { peopleReadingsPerHourMax } from "../../../src/accounts/limits.ts";
import { readDue, startReadings } from "../../../src/connectors/connections/people.ts";
import * as limits from "../../../src/connectors/limits.ts";
import type { SafeFetch } from "../../../src/http/safe-fetch.ts";
import { objectOf } from "../../support/control.ts";
import { oneDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";
import { Weir } from "../../support/weir.ts";
import {
  entra,
  github,
  gitHubAppForm,
  google,
  link,
  okta,
  oktaAppForm,
  oktaKeys,
  PeopleWorld,
  person,
  refusing,
  staff,
  type Form,
} from "./people-world.ts";
import { entraPeople, oktaApp, oktaPeople, tokenVendor, type Vendor } from "./vendor-stub.ts";

describe.each(oneDatabase)("the people of a connection on $name", ({ open }) => {
  let world: PeopleWorld;
  let turn = 0;
  beforeAll(async () => {
    world = await PeopleWorld.open(await open());
  }, 60_000);
  beforeEach(() => world.refresh());
  afterAll(() => world[Symbol.asyncDispose]());

  test.each([
    [
      "okta",
      okta,
      "GET /api/v1/users",
      [
        person("Amy@acme.example", "active", null),
        person("gone@acme.example", "disabled", null),
        person("left@acme.example", "disabled", null),
        person("new@acme.example", "pending", null),
        person("odd@acme.example", "unknown", null),
        person("off@acme.example", "suspended", null),
        person("out@acme.example", "locked", null),
        person("past@acme.example", "disabled", null),
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
      const id = await world.connect(connector, form);
      expect(await world.show(id)).toEqual({ reading: null, data: [], next: null });
      const at = new Date(world.control.clock.now()).toISOString();
      const reading = await world.read(id);
      expect(reading).toEqual({
        connection_id: id,
        list,
        read_at: at,
        people: people.length,
        complete: true,
        second_factor_unknown: why === null ? null : expect.stringContaining(why),
        current: true,
        failure: null,
        next_at: new Date(world.control.clock.now() + limits.peopleEveryMs).toISOString(),
      });
      expect(await world.show(id)).toEqual({ reading, data: [...people], next: null });
      expect(world.stub.asked.every(({ method, url }) => method === "GET" || url.endsWith("/token"))).toBe(true);
      const audit = await world.control.list("/audit?event=connection.people.read&limit=1");
      expect(audit).toMatchObject([{ target: id, changes: { outcome: { from: null, to: "works" } } }]);
    },
  );

  test.each(Object.entries(oktaKeys))("at Okta are read by an app with a private key: %s", async (_, { key, text }) => {
    const { private_key_id: _id, ...form } = oktaAppForm;
    world.vendors = [oktaApp(() => key, "key-1", world.nowSeconds), oktaPeople(staff)];
    const credentials = text.startsWith("{") ? { ...form, private_key: text } : { ...oktaAppForm, private_key: text };
    const id = await world.connect("okta", credentials);
    expect(await world.read(id)).toMatchObject({ people: staff.length, failure: null });
    expect((await world.show(id))["data"]).toContainEqual(person("gone@acme.example", "disabled", null));
  });

  test("at GitHub are read by an app of the organization, which does not tell second factors", async () => {
    const id = await world.connect("github", gitHubAppForm);
    expect(await world.read(id)).toMatchObject({
      people: 2,
      failure: null,
      second_factor_unknown: expect.stringContaining("owners of the organization"),
    });
    expect((await world.show(id))["data"]).toEqual([person("hubot", "active", null), person("octocat", "active", null)]);
    const posts = world.stub.asked.filter(({ method }) => method !== "GET").map(({ url }) => url);
    expect(posts).toEqual(["https://api.github.com/app/installations/5/access_tokens"]);
  });

  test("are kept without names and without anything else that the vendor says", async () => {
    const id = await world.connect("okta", okta);
    await world.read(id);
    const rows = await world.database.sql`SELECT * FROM connection_people WHERE connection_id = ${id}`;
    expect(JSON.stringify([rows, await world.show(id), world.control.logged])).not.toMatch(/canary|mail\+|id of/);
  });

  test("at Entra ID are read without a licence for the report, and the answer says why second factors are unknown", async () => {
    world.vendors = [tokenVendor, entraPeople(false)];
    const id = await world.connect("microsoft-entra-id", entra);
    expect(String((await world.read(id))["second_factor_unknown"])).toContain("AuditLog.Read.All");
    const { data } = await world.show(id);
    expect(data).toContainEqual(person("Adams@contoso.example", "active", null));
  });

  test("are replaced by the next reading, and nothing of the one before stays", async () => {
    const id = await world.connect("okta", okta);
    await world.read(id);
    world.vendors = [oktaPeople([["zoe@acme.example", "SUSPENDED"]])];
    expect(await world.read(id)).toMatchObject({ people: 1 });
    expect((await world.show(id))["data"]).toEqual([person("zoe@acme.example", "suspended", null)]);
    expect(await world.database.sql`SELECT FROM connection_people WHERE connection_id = ${id}`).toHaveLength(1);
  });

  test("are listed in pages by login, and as CSV and NDJSON whole, each with the time of the reading", async () => {
    world.vendors = [
      oktaPeople([
        ["=cmd()@acme.example", "ACTIVE"],
        ["b@acme.example", "ACTIVE"],
        ["c@acme.example", "SUSPENDED"],
      ]),
    ];
    const id = await world.connect("okta", okta);
    const { read_at: at } = await world.read(id);
    const first = await world.show(id, "?limit=2");
    expect(first).toMatchObject({
      data: [{ login: "=cmd()@acme.example" }, { login: "b@acme.example" }],
      next: "b@acme.example",
    });
    expect(await world.show(id, "?limit=2&after=B@acme.example")).toMatchObject({
      data: [{ login: "c@acme.example" }],
      next: null,
    });
    expect(await world.control.refusal("GET", `/connections/${id}/people?limit=20001`)).toBe("400 invalid_field limit");
    expect(await world.control.refusal("GET", `/connections/${id}/people?format=xml`)).toBe("400 invalid_field format");
    const { url, stop } = world.control.listen();
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
    await using weir = new Weir(world.control);
    const id = await world.connect("google-workspace", google);
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

  test("beyond twenty thousand are left out, and the reading says that they are not all", async () => {
    world.vendors = [
      ({ url }) => {
        const from = Number(new URL(url).searchParams.get("after") ?? 0);
        const rows = Array.from({ length: 200 }, (_, at) => ({ status: "ACTIVE", profile: { login: `p${from + at}` } }));
        return Response.json(rows, { headers: link(`/api/v1/users?after=${from + 200}`) });
      },
    ];
    const id = await world.connect("okta", okta);
    expect(await world.read(id)).toMatchObject({ people: limits.peopleMax, complete: false, failure: null });
    expect(world.stub.asked).toHaveLength(limits.peopleMax / 200 + 1);
    expect((await world.show(id, "?limit=20000"))["data"]).toHaveLength(limits.peopleMax);
  });

  test("are asked for again after the time that a busy vendor names", async () => {
    const id = await world.connect("okta", okta);
    const busy = [refusing(429, {}, { "retry-after": "7" }), refusing(503)];
    world.vendors = [(asked) => busy.shift()?.(asked), oktaPeople(staff)];
    const reading = world.read(id);
    await until(() => world.stub.asked.length === 1);
    await world.control.clock.pass(6_999);
    expect(world.stub.asked).toHaveLength(1);
    await world.control.clock.pass(1);
    await until(() => world.stub.asked.length === 2);
    await world.control.clock.pass(2_000);
    expect(await reading).toMatchObject({ people: staff.length, failure: null });
  });

  test("of a list without an end are not read", async () => {
    const id = await world.connect("okta", okta);
    let calls = 0;
    world.control.callVendors = async () => ({
      status: 200,
      headers: link(`/api/v1/users?after=${++calls}`),
      body: Buffer.from("[]"),
    });
    expect((await world.read(id))["failure"]).toMatchObject({
      outcome: "unexpected",
      message: `The vendor's list did not end within ${limits.peopleCallsMax} requests`,
    });
    expect(calls).toBe(limits.peopleCallsMax);
  });

  test("are not waited for longer than a few minutes, although the vendor answers now and then", async () => {
    const id = await world.connect("okta", okta);
    world.vendors = [
      () => {
        world.control.clock.advance(30_000);
        return Response.json([], { headers: link(`/api/v1/users?after=${++turn}`) });
      },
    ];
    expect((await world.read(id))["failure"]).toMatchObject({
      outcome: "unexpected",
      message: expect.stringContaining("3 minutes"),
    });
  });

  // Daily

  test("are read again a day after someone asked for the first reading, by one process alone", async () => {
    await world.database.sql`DELETE FROM people_readings`;
    const id = await world.connect("okta", okta);
    expect(await readDue(world.parts())).toBe(false);
    await world.read(id);
    world.stub.asked.length = 0;
    world.control.clock.advance(limits.peopleEveryMs - 1);
    expect(await readDue(world.parts())).toBe(false);
    world.control.clock.advance(1);
    const both = await Promise.all([readDue(world.parts()), readDue(world.parts())]);
    expect(both.toSorted()).toEqual([false, true]);
    expect(world.stub.asked).toHaveLength(5);
    expect((await world.show(id))["reading"]).toMatchObject({ read_at: new Date(world.control.clock.now()).toISOString() });
  });

  test("are looked for by each process each minute, which ends a reading at once when it stops", async () => {
    await world.database.sql`DELETE FROM people_readings`;
    const id = await world.connect("okta", okta);
    await world.read(id);
    world.control.clock.advance(limits.peopleEveryMs);
    let isAsked = false;
    const silent: SafeFetch = () => {
      isAsked = true;
      return new Promise(() => {});
    };
    const process_ = startReadings({ ...world.parts(), callVendors: silent });
    await world.control.clock.pass(limits.peopleLookMs);
    await until(() => isAsked);
    expect(await world.control.refusal("POST", `/connections/${id}/people`)).toBe("409 conflict null");
    await process_[Symbol.asyncDispose]();
    expect(await readDue(world.parts())).toBe(true);
    expect((await world.show(id))["reading"]).toMatchObject({
      failure: null,
      read_at: new Date(world.control.clock.now()).toISOString(),
    });
  });

  test("are read by another process when the one that has the lease dies", async () => {
    await world.database.sql`DELETE FROM people_readings`;
    const id = await world.connect("okta", okta);
    const now = new Date(world.control.clock.now());
    const leaseEnds = new Date(world.control.clock.now() + limits.peopleLeaseMs);
    await world.database.sql`
      INSERT INTO people_readings (connection_id, due_at, lease, lease_until) VALUES (${id}, ${now}, 'of the dead', ${leaseEnds})`;
    expect(await readDue(world.parts())).toBe(false);
    world.control.clock.advance(limits.peopleLeaseMs);
    expect(await readDue(world.parts())).toBe(true);
    expect((await world.show(id))["reading"]).toMatchObject({ people: staff.length });
  });

  test("are tried again within an hour where the cause passes, else the next day", async () => {
    const id = await world.connect("okta", okta);
    const waits = async (vendor: Vendor) => {
      world.vendors = [vendor];
      return Date.parse(String((await world.read(id))["next_at"])) - world.control.clock.now();
    };
    expect(await waits(refusing(429, {}, { "retry-after": "3600" }))).toBe(limits.peopleRetryMs);
    expect(await waits(refusing(403))).toBe(limits.peopleEveryMs);
  });

  test("are read no more where the operator takes the early access away, and can be deleted all the same", async () => {
    await world.database.sql`DELETE FROM people_readings`;
    const id = await world.connect("okta", okta, "other");
    await world.read(id);
    await world.control.expect("PATCH", "/workspaces/other", { body: { early_access: [] } });
    world.control.clock.advance(limits.peopleEveryMs);
    expect(await readDue(world.parts())).toBe(false);
    for (const method of ["GET", "POST"])
      expect(await world.control.refusal(method, `/connections/${id}/people`)).toBe("404 not_found null");
    expect(await world.control.expect("DELETE", `/connections/${id}/people`)).toEqual({ id, forgotten: true });
    await world.control.expect("PATCH", "/workspaces/other", { body: { early_access: ["people"] } });
    expect((await world.show(id))["reading"]).toBeNull();
  });

  // Credentials and connections that change

  test("read with former credentials are marked, and are read again at once", async () => {
    await world.database.sql`DELETE FROM people_readings`;
    const id = await world.connect("okta", okta);
    await world.read(id);
    world.control.clock.advance(1_000);
    await world.control.expect("PUT", `/connections/${id}/credentials`, { body: { credentials: okta } });
    expect((await world.show(id))["reading"]).toMatchObject({ current: false, people: staff.length });
    expect(await readDue(world.parts())).toBe(true);
    expect((await world.show(id))["reading"]).toMatchObject({ current: true });
  });

  test.each(["replaced", "deleted"])("are not stored if the connection is %s meanwhile", async (what) => {
    const id = await world.connect("okta", okta);
    await world.read(id);
    world.control.clock.advance(1_000);
    world.control.callVendors = async (request) => {
      if (what === "deleted") await world.control.expect("DELETE", `/connections/${id}`);
      else await world.control.expect("PUT", `/connections/${id}/credentials`, { body: { credentials: okta } });
      return world.stub.callVendors({ ...request, url: new URL("https://acme.okta.com/api/v1/users?limit=200&after=4") });
    };
    expect(await world.control.refusal("POST", `/connections/${id}/people`)).toBe("409 conflict null");
    const rows = await world.database.sql`SELECT FROM connection_people WHERE connection_id = ${id}`;
    expect(rows).toHaveLength(what === "deleted" ? 0 : staff.length);
    if (what === "replaced") world.control.callVendors = world.stub.callVendors;
    if (what === "replaced") expect(await readDue(world.parts())).toBe(true);
  });

  test("go with the connection", async () => {
    const id = await world.connect("okta", okta);
    await world.read(id);
    await world.control.expect("DELETE", `/connections/${id}`);
    for (const table of ["people_readings", "connection_people"])
      expect(await world.database.sql.unsafe(`SELECT FROM ${table} WHERE connection_id = '${id}'`)).toHaveLength(0);
  });

  test("are in the workspace's evidence, which another workspace's does not have", async () => {
    const id = await world.connect("google-workspace", google);
    await world.read(id);
    const files = async (workspace: string) => (await world.control.expect("GET", `/evidence?workspace=${workspace}`))["files"];
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
    const id = await world.connect("okta", okta);
    const answer = async (method: string) => {
      const { status } = await world.control.call(method, `/connections/${id}/people`, { as: `${role}@acme` });
      return status === 200 ? "200" : world.control.refusal(method, `/connections/${id}/people`, { as: `${role}@acme` });
    };
    expect([await answer("GET"), await answer("POST"), await answer("DELETE")]).toEqual([lists, changes, changes]);
  });

  test("of another workspace are not found", async () => {
    const id = await world.connect("okta", okta);
    for (const method of ["GET", "POST", "DELETE"])
      expect(await world.control.refusal(method, `/connections/${id}/people`, { as: "super_admin@other" })).toBe(
        "404 not_found id",
      );
    expect(world.stub.asked).toEqual([]);
  });

  test.each([
    ["another vendor", "generic", { api_token: "a" }, "reads no people"],
    [
      "GitHub without organizations",
      "github",
      { personal_access_token: "right" },
      "personal_access_token, orgs, or github_app_id, github_app_private_key, organization are needed",
    ],
  ])("of %s are refused with the cause", async (_what, connector, form, words) => {
    const id = await world.connect(connector, form as unknown as Form);
    const { status, body } = await world.control.call("POST", `/connections/${id}/people`);
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining(words)]);
  });

  test("are read thirty times an hour, so that no one finds out by trying which credentials work", async () => {
    const id = await world.connect("okta", okta);
    world.vendors = [refusing(401)];
    for (let number = 0; number < peopleReadingsPerHourMax; number++) await world.read(id);
    expect((await world.control.call("POST", `/connections/${id}/people`)).status).toBe(429);
  });
});
