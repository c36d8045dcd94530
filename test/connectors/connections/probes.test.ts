import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connectionTestsPerHourMax, quotaHourMs } from "../../../src/accounts/limits.ts";
import { generateKeyPairSync } from "node:crypto";
import { probes } from "../../../src/connectors/connections/probes.ts";
import { readConnectorFiles } from "../../../src/connectors/catalog/files/read-file.ts";
import { testedByCode } from "../../../src/connectors/catalog/row.ts";
import { catalogOf } from "../../../src/connectors/catalog/files/judge.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import {
  datadogVendor,
  entraVendor,
  gitHubApp,
  googleVendor,
  jiraVendor,
  oktaApp,
  oktaVendor,
  startVendorStub,
  type VendorStub,
} from "./vendor-stub.ts";
import { gitHubAppForm, gitHubKey, oktaAppForm } from "./people-world.ts";
import { publishVendors } from "./vendors.ts";

const pair = () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const accountKey = pair();
const account = (key = accountKey) =>
  JSON.stringify({
    client_email: "reader@acme.iam.gserviceaccount.com",
    private_key: key.export({ type: "pkcs8", format: "pem" }),
    private_key_id: "key-1",
    token_uri: "https://thief.example/token",
  });

type Form = Record<string, string>;
const okta: Form = { okta_domain: "acme.okta.com", api_token: "right" };
const jira: Form = { jira_domain: "acme", email_address: "it@acme.example", api_token: "right" };
const entra: Form = { entra_tenant_id: "tenant-1", entra_client_id: "client", entra_client_secret: "right & proper" };
const google: Form = { customer_id: "C01", administrator_email: "admin@acme.example", credentials: account() };
const datadog: Form = { datadog_site: "datadoghq.eu", api_key: "key", application_key: "right" };

/** Kind, connector, a valid form, and one that the vendor refuses. */
const kinds: [kind: string, connector: string, right: Form, wrong: Form, calls: number][] = [
  ["an API token in a header", "okta", okta, { ...okta, api_token: "wrong" }, 1],
  ["basic", "jira", jira, { ...jira, api_token: "wrong" }, 1],
  ["OAuth client credentials", "microsoft-entra-id", entra, { ...entra, entra_client_secret: "wrong" }, 2],
  ["a signed service account", "google-workspace", google, { ...google, credentials: account(pair()) }, 2],
  ["a service app’s key", "okta", oktaAppForm, { ...oktaAppForm, client_id: "another" }, 2],
  ["an installed app’s key", "github", gitHubAppForm, { ...gitHubAppForm, github_app_id: "78" }, 1],
  ["an API key pair", "datadog", datadog, { ...datadog, application_key: "wrong" }, 1],
];

describe("each probe", () => {
  test("is of a connector that the catalog shows as tested", () => {
    expect([...new Set(probes.map(({ connector }) => connector))].toSorted()).toEqual([...testedByCode]);
  });

  test.each(probes.map((probe) => [probe.connector, probe] as const))(
    "finds its fields in the form of %s",
    async (id, { needs }) => {
      const catalog = catalogOf(await readConnectorFiles("./catalog-data"));
      const connector = catalog.connectors.find((one) => one.id === id);
      const sets = (connector?.credential_sets ?? []).map(({ fields }) => fields.map(({ key }) => key));
      expect(sets.filter((keys) => needs.every((key) => keys.includes(key)))).toHaveLength(1);
    },
  );
});

describe.each(databases.slice(0, 1))("the test of a connection", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let stub: VendorStub;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    control.connectors.published = await publishVendors(database.sql);
    await control.workspace("acme");
    const google = googleVendor(accountKey, () => control.clock.now() / 1_000);
    const seconds = () => Math.floor(control.clock.now() / 1_000);
    const apps = [oktaApp(() => gitHubKey.key, "key-1", seconds), gitHubApp(gitHubKey.key, seconds)];
    stub = startVendorStub([...apps, oktaVendor, jiraVendor, entraVendor, google, datadogVendor]);
  }, 60_000);
  beforeEach(() => {
    stub.asked.length = 0;
    control.probeFetch = stub.probeFetch;
    control.clock.advance(quotaHourMs);
  });
  afterAll(async () => {
    await stub[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  const connect = async (connector: string, credentials: Form, more: object = {}): Promise<string> => {
    const credential_set = "private_key" in credentials || "github_app_id" in credentials ? 1 : 0;
    const body = { workspace: "acme", connector, credentials, credential_set, ...more };
    return String((await control.expect("POST", "/connections", { body }))["id"]);
  };
  const tested = async (connector: string, credentials: Form) =>
    control.expect("POST", `/connections/${await connect(connector, credentials)}/test`);

  test.each(kinds)(
    "by %s reads at %s what it may, and takes the vendor's word",
    async (_kind, connector, right, _wrong, calls) => {
      expect(await tested(connector, right)).toMatchObject({ ok: true, outcome: "works", status: 200 });
      expect(stub.asked).toHaveLength(calls);
      expect(stub.asked.at(-1)?.method).toBe("GET");
    },
  );

  test.each(kinds)(
    "by %s at %s says that the vendor refuses, and nothing of what it says",
    async (_kind, connector, _right, wrong) => {
      const result = await tested(connector, wrong);
      expect(result).toMatchObject({ ok: false, outcome: "refused" });
      const audit = await control.list("/audit?event=connection.tested&limit=1");
      expect(audit).toMatchObject([{ target: result["id"], changes: { outcome: { from: null, to: "refused" } } }]);
      expect(JSON.stringify([result, audit, control.logged])).not.toContain("canary-of-the-vendor");
    },
  );

  test.each([
    ["okta", "okta_domain", { ...okta, okta_domain: "thief.example" }],
    ["okta", "okta_domain", { ...okta, okta_domain: "https://127.0.0.1" }],
    ["okta", "okta_domain", { ...okta, okta_domain: "thief.example/acme.okta.com" }],
    ["okta", "okta_domain", { ...okta, okta_domain: "acme.okta.com@thief.example" }],
    ["okta", "okta_domain", { ...okta, okta_domain: "acme.okta.com.thief.example" }],
    ["okta", "okta_domain", { ...okta, okta_domain: "evilokta.com" }],
    ["okta", "okta_domain", { ...okta, okta_domain: "acme.okta.com:8443" }],
    ["jira", "jira_domain", { ...jira, jira_domain: "localhost.." }],
    ["microsoft-entra-id", "entra_tenant_id", { ...entra, entra_tenant_id: "../../thief" }],
    ["google-workspace", "credentials", { ...google, credentials: "{}" }],
    ["okta", "api_token", { ...okta, api_token: "rïght" }],
    ["datadog", "application_key", { ...datadog, application_key: "two words" }],
    ["datadog", "datadog_site", { ...datadog, datadog_site: "thief.example" }],
  ])(
    "to %s sends nothing that cannot be right, and nothing to another place than the vendor's: it names %s",
    async (connector, field, credentials) => {
      const result = await tested(connector, credentials);
      expect(result).toMatchObject({ ok: false, outcome: "unusable", status: null });
      expect(result["message"]).toContain(`"${field}"`);
      expect(stub.asked).toEqual([]);
    },
  );

  test("of an app that is not installed says that it lacks that", async () => {
    expect(await tested("github", { ...gitHubAppForm, organization: "other" })).toMatchObject({
      ok: false,
      outcome: "lacks_grant",
    });
  });

  test("accepts the vendor's host in the forms that people type", async () => {
    for (const okta_domain of ["acme", "ACME.okta.com", "https://acme.okta.com/", "https://acme.okta.com/admin"]) {
      expect(await tested("okta", { ...okta, okta_domain })).toMatchObject({ ok: true });
    }
  });

  test.each([
    [500, "{}"],
    [302, ""],
    [200, "<html>"],
  ])("treats the status %i with the body %p as inconclusive", async (status, body) => {
    control.probeFetch = async () => ({ status, body });
    expect(await tested("okta", okta)).toMatchObject({ ok: false, outcome: "unexpected", status });
  });

  test("is made thirty times an hour by a workspace, so that nobody tries credentials that were found", async () => {
    const id = await connect("okta", okta);
    const answers: [number, string | null][] = [];
    for (let index = 0; index <= connectionTestsPerHourMax; index++) {
      const { status, headers } = await control.call("POST", `/connections/${id}/test`);
      answers.push([status, headers.get("retry-after")]);
    }
    expect(answers.slice(-2)).toEqual([
      [200, null],
      [429, "3600"],
    ]);
    expect(stub.asked).toHaveLength(connectionTestsPerHourMax);
  });

  test("reports a missing answer", async () => {
    control.probeFetch = () => Promise.reject(new Error("connect ECONNREFUSED 10.1.2.3"));
    const result = await tested("okta", okta);
    expect(result).toMatchObject({ ok: false, outcome: "unreachable", status: null });
    expect(JSON.stringify(result)).not.toContain("10.1.2.3");
  });

  test("is refused if there is no probe: for a form without what it needs, or another connector", async () => {
    const ids = [await connect("github", { personal_access_token: "right" }), await connect("generic", { api_token: "a" })];
    for (const id of ids) expect(await control.refusal("POST", `/connections/${id}/test`)).toBe("409 conflict null");
  });
});
