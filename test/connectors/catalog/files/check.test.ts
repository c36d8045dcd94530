/** Each rule of the check, broken on its own: one message, which names the file, the field and the change. */
import { describe, expect, test } from "bun:test";
import { type ConnectorFiles, formatProblem } from "../../../../src/connectors/catalog/files/read-file.ts";
import { catalogOf, judgeConnectors } from "../../../../src/connectors/catalog/files/judge.ts";
import type { Connector, Field } from "../../../../src/connectors/catalog/files/schema.ts";
import { bareConnector, filesOf, recordOnly, sampleConnector } from "../sample.ts";

const good = (): Connector[] => [sampleConnector(), bareConnector("Bolt HR"), recordOnly("Carrier")];
const problemsIn = (files: ConnectorFiles): string[] => judgeConnectors(files).problems.map(formatProblem);
const problemsOf = (...connectors: Connector[]): string[] => problemsIn(filesOf(connectors));

const sample = (changes: object): Connector => ({ ...sampleConnector(), ...changes });
const without = (name: keyof Connector): Connector => {
  const { [name]: _, ...rest } = sampleConnector();
  return sample(rest) && (rest as Connector);
};
const secret: Field = { key: "api_key", label: "API key", secret: true, optional: false, kind: "text" };
const withFields = (...fields: object[]): Connector => sample({ credential_sets: [{ fields }] });
const grant = { text: "Read-only role", scopes: [], notes: [] };
const { evidence } = sampleConnector();

test("a catalog that obeys every rule passes, sorted by id", () => {
  expect(problemsOf(...good())).toEqual([]);
  expect(catalogOf(filesOf(good().toReversed())).connectors.map(({ id }) => id)).toEqual([
    "acme-directory",
    "bolt-hr",
    "carrier",
  ]);
});

test("a catalog with a problem is not returned", () => {
  expect(() => catalogOf(filesOf([sample({ category: "Gardening" })]))).toThrow(
    'The connector catalog is refused: connectors/acme-directory.json: category: "Gardening"',
  );
});

const file = "connectors/acme-directory.json";
const broken: [rule: string, connector: Connector, message: string][] = [
  [
    "an unknown category",
    sample({ category: "Gardening" }),
    'category: "Gardening" is not in categories.json: write one of its names',
  ],
  [
    "a missing API token method",
    sample({ methods: ["mcp"] }),
    'methods: "api_token" is missing: add it, for every connector takes a credential',
  ],
  [
    "Record only beside another method",
    sample({
      methods: ["mcp", "record_only"],
      form: "none",
      credential_sets: undefined,
      evidence: [{ ...evidence[0], for: ["grant", "docs"] }, evidence[1]],
    }),
    'methods: "record_only" excludes other methods: remove it or the others',
  ],
  [
    "an unknown method",
    sample({ methods: ["api_token", "fax"] }),
    'methods[0]: is "fax": write one of oauth, api_token, mcp, record_only',
  ],
  ["a method named twice", sample({ methods: ["api_token", "api_token", "mcp"] }), "methods: names a method twice: remove one"],
  [
    "OAuth without an app of ours",
    sample({ methods: ["oauth", "api_token", "mcp"] }),
    'methods: "oauth" has no app in oauth-apps.json: remove it',
  ],
  [
    "an MCP server without its address",
    sample({ mcp: null, evidence: [evidence[0], { ...evidence[1], for: ["oauth"] }] }),
    'methods: "mcp" has no address: remove it, or write the address as mcp.url',
  ],
  [
    "an MCP address without the method",
    sample({ methods: ["api_token"] }),
    'methods: "mcp" is missing although mcp.url has an address: add it',
  ],
  [
    "a docs link that is not https",
    sample({ docs: "http://docs.acme.example" }),
    'docs: is "http://docs.acme.example": write an https address, or null',
  ],
  [
    "a docs link that is no address",
    sample({ docs: "https://[acme].example" }),
    'docs: "https://[acme].example" is not an address: write the page\'s https address, or null',
  ],
  [
    "a secret with a default",
    withFields({ ...secret, default: "hunter2" }),
    "credential_sets[0].fields[0].default: remove it: a form has no preset values",
  ],
  [
    "a secret with an example",
    withFields({ ...secret, example: "hunter2" }),
    "credential_sets[0].fields[0].example: remove it: a secret has no example and no default",
  ],
  [
    "a key that occurs twice",
    withFields(secret, { ...secret, label: "Other" }),
    'credential_sets[0].fields[1].key: "api_key" occurs twice: rename one',
  ],
  [
    "a label that occurs twice",
    withFields(secret, { ...secret, key: "other" }),
    'credential_sets[0].fields[1].label: "API key" occurs twice: rename one',
  ],
  [
    "a key that is not snake_case",
    withFields({ ...secret, key: "apiKey" }),
    'credential_sets[0].fields[0].key: is "apiKey": write a permanent name in snake_case',
  ],
  ["a set of no fields", withFields(), "credential_sets[0].fields: is []: write a list of at least one field"],
  [
    "a specific form without fields",
    without("credential_sets"),
    'credential_sets: is missing: write the fields, or form "generic"',
  ],
  [
    "a generic form with fields",
    sample({ form: "generic", evidence: [{ ...evidence[0], for: ["grant", "docs"] }, evidence[1]] }),
    'credential_sets: does not fit form "generic": remove it, or write form "specific"',
  ],
  [
    "no form but for Record only",
    { ...bareConnector("Acme Directory"), form: "none" },
    'form: is "none": write "generic", or "specific" with credential_sets',
  ],
  [
    "a form for Record only",
    { ...recordOnly("Acme Directory"), form: "generic" },
    'form: is "generic": write "none", because a record asks for nothing',
  ],
  [
    "a claim without its source",
    sample({ evidence: [{ ...evidence[0], for: ["fields", "docs"] }, evidence[1]] }),
    'evidence: has no source for "grant": add one, or withdraw the claim',
  ],
  ["a source without its claim", sample({ docs: null }), 'evidence: has a source for "docs", which is not claimed: remove it'],
  [
    "a source that occurs twice",
    sample({ evidence: [evidence[0], { ...evidence[0], for: ["docs"] }, evidence[1]] }),
    'evidence[1].url: "https://docs.acme.example/api" occurs twice: remove one',
  ],
  [
    "a source that is not https",
    sample({ evidence: [{ ...evidence[0], url: "ftp://x.org" }, evidence[1]] }),
    'evidence[0].url: is "ftp://x.org": write an https address',
  ],
  [
    "a note that is not known",
    sample({ grant: { ...grant, notes: ["no_idea"] } }),
    'grant.notes[0]: "no_idea" is not in grant-notes.json: write one of no_read_only_credential',
  ],
  [
    "a note that occurs twice",
    sample({ grant: { ...grant, notes: ["carries_user_rights", "carries_user_rights"] } }),
    'grant.notes[1]: "carries_user_rights" occurs twice: remove one',
  ],
  [
    "a plan that the note leaves open",
    sample({ grant: { ...grant, notes: ["vendor_plan_required"] } }),
    "grant.plan: is missing: write the plan that the note mentions",
  ],
  [
    "a plan without its note",
    sample({ grant: { ...grant, plan: "Pro" } }),
    "grant.plan: has no note that mentions it: add the note",
  ],
  [
    "a scope that occurs twice",
    sample({ grant: { ...grant, scopes: ["a", "a"] } }),
    'grant.scopes[1]: "a" occurs twice: remove one',
  ],
  [
    "a set's grant that the connector lacks",
    sample({ grant, credential_sets: [{ fields: [secret], grant: { ...grant, text: "Administrator" } }, { fields: [secret] }] }),
    'credential_sets[0].grant: "Administrator" is not in grant: add it there, or remove it',
  ],
  [
    "a part of the grant that no set needs",
    sample({ grant, credential_sets: [{ fields: [secret], grant: null }] }),
    'grant: "Read-only role" is in no set\'s grant: add it to one',
  ],
  ["a grant that says nothing", sample({ grant: { text: null, scopes: [], notes: [] } }), "grant: says nothing: write null"],
  [
    "a grant with a period at its end",
    sample({ grant: { ...grant, text: "Read-only role." } }),
    'grant.text: ends with ".": remove it',
  ],
  ["a field that is not known", sample({ colour: "green" }), "colour: remove it: no such field is known"],
  ["a field that is missing", without("vendor"), "vendor: is missing: write one line of text without surrounding spaces"],
  [
    "blanks around a name",
    sample({ name: " Acme Directory" }),
    'name: is " Acme Directory": write one line of text without surrounding spaces',
  ],
  [
    "a slug that is not the file's name",
    sample({ slug: "acme" }),
    'slug: is "acme": rename the file to connectors/acme.json, or change the slug',
  ],
];

describe("the check refuses", () => {
  test.each(broken)("%s", (_, connector, message) => {
    const files = filesOf([connector]);
    const found = problemsIn({ ...files, connectors: files.connectors.map(({ text }) => ({ name: file, text })) });
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith(`${file}: ${message}`);
  });

  test.each([
    "repo:write",
    "users:read-write",
    "Directory.ReadWrite.All",
    "manage_users",
    "okta.users.manage",
    "DeleteUser",
    "iam:*",
    "*",
    "full_access",
    "admin:org",
  ])("a scope that writes: %s", (scope) => {
    expect(problemsOf(sample({ grant: { ...grant, scopes: [scope] } }))).toEqual([
      `${file}: grant.scopes[0]: "${scope}" lets the service write: name a reading scope, or none`,
    ]);
  });

  test("a role that writes", () => {
    expect(problemsOf(sample({ grant: { ...grant, text: "Read and write access" } }))).toEqual([
      `${file}: grant.text: "Read and write access" lets the service write: name a reading role or permission, or write null`,
    ]);
  });

  test.each([
    "admin.users:read",
    "repo:read",
    "okta.users.read",
    "Directory.Read.All",
    "administration:read",
    "read_api",
    "cognito-idp:ListUsers",
  ])("no scope that reads: %s", (scope) => {
    expect(problemsOf(sample({ grant: { ...grant, scopes: [scope] } }))).toEqual([]);
  });
});
