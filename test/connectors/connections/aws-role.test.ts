import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { signature } from "../../../src/connectors/connections/aws-role.ts";
import { loadPublished, recordCatalog } from "../../../src/connectors/catalog/published.ts";
import { nothingKnown } from "../../../src/connectors/catalog/search-terms.ts";
import { readConnectorFiles } from "../../../src/connectors/catalog/files/read-file.ts";
import { catalogOf } from "../../../src/connectors/catalog/files/judge.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { readAws } from "../../../src/process/environment/services.ts";
import { Control, objectOf } from "../../support/control.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";

const credentials = { keyId: "AKIDEXAMPLE", secretKey: new Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY") };
const role_arn = "arn:aws:iam::210987654321:role/weir-audit";

test("a request is signed as AWS’s own example is", () => {
  const headers = {
    "content-type": "application/x-www-form-urlencoded; charset=utf-8",
    host: "iam.amazonaws.com",
    "x-amz-date": "20150830T123600Z",
  };
  const query = "Action=ListUsers&Version=2010-05-08";
  // https://github.com/awsdocs/aws-general-reference, doc_source/sigv4-calculate-signature.md
  expect(signature({ method: "GET", path: "/", query, headers, body: "", service: "iam", credentials })).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, " +
      "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  );
});

test.each([
  [{}, null],
  [{ AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE" }, null],
  [{ AWS_ACCOUNT_ID: "123456789012" }, { id: "123456789012", credentials: null }],
  [
    { AWS_ACCOUNT_ID: "123456789012", AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE", AWS_SECRET_ACCESS_KEY: "s" },
    { id: "123456789012", credentials: { keyId: "AKIAIOSFODNN7EXAMPLE", secretKey: new Secret("s") } },
  ],
])("the service’s account of %p is %p", (environment, account) => {
  expect(readAws(environment)).toEqual(account);
});

test.each([
  [{ AWS_ACCOUNT_ID: "1234" }, "AWS_ACCOUNT_ID"],
  [{ AWS_ACCOUNT_ID: "123456789012", AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE" }, "AWS_SECRET_ACCESS_KEY"],
  [{ AWS_ACCOUNT_ID: "123456789012", AWS_SECRET_ACCESS_KEY: "canary" }, "AWS_ACCESS_KEY_ID"],
])("a half-set account of %p is refused with the variable %s", (environment, name) => {
  expect(() => readAws(environment)).toThrow(name);
  expect(() => readAws(environment)).not.toThrow("canary");
});

describe.each(oneDatabase)("access by a role of AWS on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  /** The external id that the customer's role requires; null: none; undefined: it does not trust the service. */
  let trusted: string | null | undefined;
  const sent: URLSearchParams[] = [];
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    const { categories, grantNotes, connectors } = catalogOf(await readConnectorFiles("./catalog-data"));
    const aws = connectors.filter(({ id }) => id === "amazon-web-services");
    const recorded = await recordCatalog({ categories, grantNotes, connectors: aws }, { sql: database.sql, clock: systemClock });
    control.connectors.published = await loadPublished(recorded, { sql: database.sql, known: nothingKnown });
    for (const name of ["acme", "other"]) await control.workspace(name);
    control.parts.aws = { id: "123456789012", credentials };
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const error = (code: string, status: number) => ({
    status,
    body: `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>canary</Message></Error></ErrorResponse>`,
  });
  const lent =
    "<AssumeRoleResponse><AssumeRoleResult><Credentials><SecretAccessKey>canary</SecretAccessKey></Credentials></AssumeRoleResult></AssumeRoleResponse>";
  /** Security Token Service, as its documentation says: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
  function sts(other?: { status: number; body: string }): void {
    sent.length = 0;
    control.probeFetch = async ({ method, url, headers, body = "" }) => {
      const form = new URLSearchParams(body);
      sent.push(form);
      const isSigned = /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/sts\/aws4_request, /.test(
        headers["authorization"] ?? "",
      );
      if (`${method} ${url}` !== "POST https://sts.amazonaws.com/" || !isSigned) return error("InvalidAction", 400);
      if (other !== undefined) return other;
      const isTrusted = trusted !== undefined && (trusted === null || trusted === form.get("ExternalId"));
      return isTrusted && form.get("RoleArn") === role_arn ? { status: 200, body: lent } : error("AccessDenied", 403);
    };
  }
  const connect = (more: object = {}) =>
    control.expect("POST", "/connections", {
      body: { workspace: "acme", connector: "amazon-web-services", credentials: { role_arn }, ...more },
    });
  const tested = ({ id }: Record<string, unknown>) => control.expect("POST", `/connections/${id}/test`);

  test("has an external id of the connection alone, which stays, and a trust policy to copy", async () => {
    const made = await connect();
    const access = objectOf(made["role_access"]);
    expect(access["account_id"]).toBe("123456789012");
    expect(String(access["external_id"])).toMatch(/^[\w+=,.@:/-]{20,1224}$/);
    const policy = JSON.parse(String(access["trust_policy"]));
    expect(policy).toEqual({
      Version: "2012-10-17",
      Statement: [
        {
          Effect: "Allow",
          Principal: { AWS: "arn:aws:iam::123456789012:root" },
          Action: "sts:AssumeRole",
          Condition: { StringEquals: { "sts:ExternalId": access["external_id"] } },
        },
      ],
    });
    const other = await connect();
    expect(objectOf(other["role_access"])["external_id"]).not.toBe(access["external_id"]);
    const replaced = await control.expect("PUT", `/connections/${made["id"]}/credentials`, {
      body: { credentials: { role_arn } },
    });
    expect(replaced["role_access"]).toEqual(access);
  });

  test("takes no external id that a customer chose", async () => {
    const body = { workspace: "acme", connector: "amazon-web-services", credentials: { role_arn, external_id: "of another" } };
    expect(await control.refusal("POST", "/connections", { body })).toBe("400 invalid_field external_id");
  });

  test("works if the role can be assumed with the external id, and not with another", async () => {
    const made = await connect();
    trusted = String(made["id"]);
    sts();
    expect(await tested(made)).toMatchObject({ ok: true, outcome: "works" });
    expect(sent.map((form) => form.get("ExternalId") === made["id"])).toEqual([true, false]);
    expect(Object.fromEntries(sent[0] ?? [])).toMatchObject({
      Action: "AssumeRole",
      Version: "2011-06-15",
      DurationSeconds: "900",
    });
    const audit = await control.list("/audit?event=connection.tested&limit=1");
    expect(JSON.stringify([audit, control.logged, await control.expect("GET", `/connections/${made["id"]}`)])).not.toContain(
      "canary",
    );
  });

  test("is not lent to another customer who connects the same role: the confused deputy", async () => {
    trusted = String((await connect())["id"]);
    sts();
    expect(await tested(await connect({ workspace: "other" }))).toMatchObject({ ok: false, outcome: "refused" });
  });

  test("is unusable if the role’s trust does not ask for the external id", async () => {
    trusted = null;
    sts();
    const result = await tested(await connect());
    expect(result).toMatchObject({ ok: false, outcome: "unusable" });
    expect(result["message"]).toContain("must require the external id");
  });

  test.each<[string, { status: number; body: string } | undefined, string]>([
    ["AccessDenied", error("AccessDenied", 403), "refused"],
    ["Throttling", error("Throttling", 400), "rate_limited"],
    ["InvalidClientTokenId", error("InvalidClientTokenId", 403), "unexpected"],
    ["ValidationError", error("ValidationError", 400), "unusable"],
    ["a captive portal", { status: 200, body: "<html>" }, "unexpected"],
  ])("told %s by AWS is %s", async (_what, answer, outcome) => {
    sts(answer);
    const result = await tested(await connect());
    expect(result).toMatchObject({ ok: false, outcome });
    expect(JSON.stringify(result)).not.toContain("canary");
  });

  test.each(["arn:aws:iam::1:role/x", "arn:aws:iam::210987654321:user/x", "arn:aws-cn:iam::210987654321:role/x", "https://x"])(
    "sends nothing for %s, which is no role",
    async (role) => {
      sts();
      const result = await tested(await connect({ credentials: { role_arn: role } }));
      expect([result["outcome"], sent.length]).toEqual(["unusable", 0]);
      expect(result["message"]).toContain('"role_arn"');
    },
  );

  test("cannot be tested without credentials of the service, and says so without an account", async () => {
    const { id } = await connect();
    control.parts.aws = { id: "123456789012", credentials: null };
    expect(await control.expect("GET", `/connections/${id}`)).toMatchObject({
      testable: false,
      role_access: { trust_policy: expect.any(String) },
    });
    expect(await control.refusal("POST", `/connections/${id}/test`)).toBe("409 conflict null");
    control.parts.aws = null;
    expect((await control.expect("GET", `/connections/${id}`))["role_access"]).toEqual({
      account_id: null,
      external_id: id,
      trust_policy: null,
    });
    control.parts.aws = { id: "123456789012", credentials };
  });
});
