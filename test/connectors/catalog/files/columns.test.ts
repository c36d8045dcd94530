/** The rendered columns, word for word as in the specification. */
import { describe, expect, test } from "bun:test";
import { columnsOf } from "../../../../src/connectors/catalog/files/columns.ts";
import { judgeConnectors } from "../../../../src/connectors/catalog/files/judge.ts";
import { rowOf } from "../../../../src/connectors/catalog/row.ts";
import { methods, type Connector, type Field, type Grant } from "../../../../src/connectors/catalog/files/schema.ts";
import { bareConnector, filesOf, recordOnly, sampleConnector } from "../sample.ts";

const { catalog } = judgeConnectors(filesOf([]));
const columns = (connector: Connector) => columnsOf(connector, catalog);

describe("Connect with", () => {
  const names = ["OAuth", "API token", "MCP server", "Record only"];
  const subsets = Array.from({ length: 2 ** methods.length - 1 }, (_, index) =>
    methods.map((method, place) => ({ method, name: names[place] })).filter((_pair, place) => (index + 1) & (1 << place)),
  );

  test.each(subsets.map((subset) => [subset.map(({ name }) => name).join(", "), subset] as const))("%s", (shown, subset) => {
    expect(columns(sampleConnector({ methods: subset.map(({ method }) => method) })).connect_with).toBe(shown);
  });
});

describe("The form asks for", () => {
  const field = (label: string, optional = false): Field => ({
    key: label.toLowerCase(),
    label,
    secret: false,
    optional,
    kind: "text",
  });
  const asked = (...sets: Field[][]): string =>
    columns(sampleConnector({ credential_sets: sets.map((fields) => ({ fields })) })).form_asks_for;

  test.each([
    ["one field", [[field("Key")]], "Key"],
    ["several, separated by commas", [[field("URL"), field("Key")]], "URL, Key"],
    ["optional ones marked", [[field("URL", true), field("Key"), field("Org", true)]], "URL (optional), Key, Org (optional)"],
    ["an alternative set", [[field("Key")], [field("User"), field("Password")]], "Key; or, instead: User, Password"],
    ["two alternatives", [[field("A")], [field("B")], [field("C", true)]], "A; or, instead: B; or, instead: C (optional)"],
  ])("%s", (_, sets, shown) => {
    expect(asked(...sets)).toBe(shown);
  });

  test("the generic form if there is no specific one", () => {
    expect(columns(bareConnector("Bolt")).form_asks_for).toBe(
      "API token / Personal access token, Base URL (optional), Account / Org / Workspace (optional)",
    );
  });

  test("a dash for a record", () => {
    expect(columns(recordOnly("Carrier")).form_asks_for).toBe("—");
  });
});

describe("Grant at the vendor", () => {
  const shown = (grant: Grant | null): string => columns(sampleConnector({ grant })).grant_at_the_vendor;
  const rights = "the credential carries its user's rights, so create it as a user who can see every account";

  test.each([
    ["a dash when none is listed", null, "—"],
    ["the vendor's own name", { text: "Read-only Administrator", scopes: [], notes: [] }, "Read-only Administrator"],
    ["the scopes where they say it all", { text: null, scopes: ["a.read", "b.read"], notes: [] }, "a.read, b.read"],
    ["the name before the scopes", { text: "Role Reader", scopes: ["a.read"], notes: [] }, "Role Reader"],
    ["a note behind the name", { text: "Reader", scopes: [], notes: ["carries_user_rights"] }, `Reader; ${rights}`],
    ["a note alone", { text: null, scopes: [], notes: ["carries_user_rights"] }, rights],
    [
      "the plan that is needed",
      { text: null, scopes: [], notes: ["vendor_plan_required"], plan: "Pro" },
      "needs the vendor's plan: Pro",
    ],
    [
      "two notes",
      { text: null, scopes: ["r"], notes: ["carries_user_rights", "vendor_plan_required"], plan: "Pro" },
      `r; ${rights}; needs the vendor's plan: Pro`,
    ],
  ])("%s", (_, grant, text) => {
    expect(shown(grant)).toBe(text);
  });

  test.each(catalog.grantNotes.map(({ code, text }) => [code, text] as const))("the standard note of %s", (code, text) => {
    expect(shown({ text: null, scopes: [], notes: [code], plan: "Pro" })).toBe(text.replace("{plan}", "Pro"));
  });
});

test("Vendor docs are a link or a dash", () => {
  expect(columns(sampleConnector()).vendor_docs).toBe("https://docs.acme.example/api");
  expect(columns(bareConnector("Bolt")).vendor_docs).toBe("—");
});

test("a row has the machine form in addition to its columns", () => {
  const row = rowOf(sampleConnector(), catalog);
  expect(Object.keys(row).join()).toBe(
    "id,slug,name,vendor,category,methods,form,credential_sets,grant,docs,mcp,evidence,columns",
  );
  expect(row.grant).toEqual({
    text: "groups.read, users.read",
    scopes: ["groups.read", "users.read"],
    notes: ["vendor_plan_required"],
    plan: "Enterprise",
  });
  expect(rowOf(bareConnector("Bolt"), catalog).credential_sets.flatMap(({ fields }) => fields.map(({ key }) => key))).toEqual([
    "api_token",
    "base_url",
    "account",
  ]);
  expect(rowOf(recordOnly("Carrier"), catalog).credential_sets).toEqual([]);
});
