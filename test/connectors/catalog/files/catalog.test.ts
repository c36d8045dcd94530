/** The catalog of this repository, and the commands that read it. */
import { Value } from "@sinclair/typebox/value";
import { describe, expect, test } from "bun:test";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../../../scripts/weir/run.ts";
import { canonicalSearchWords, canonicalText } from "../../../../src/connectors/catalog/files/format.ts";
import { readConnectorFiles, formatProblem } from "../../../../src/connectors/catalog/files/read-file.ts";
import { exportCatalog } from "../../../../src/connectors/catalog/exports.ts";
import { judgeConnectors, judgeSearchWords } from "../../../../src/connectors/catalog/files/judge.ts";
import { ConnectorRow } from "../../../../src/connectors/catalog/row.ts";
import { type Connector, DeclaredProbe } from "../../../../src/connectors/catalog/files/schema.ts";
import { tallyOf } from "../../../../src/connectors/catalog/files/tally.ts";
import { temporaryFolder, type TemporaryFolder } from "../../../support/temporary-folder.ts";
import { sampleConnector } from "../sample.ts";

const folder = new URL("../../../../catalog-data", import.meta.url).pathname;
const files = await readConnectorFiles(folder);
const { catalog, problems } = judgeConnectors(files);
const tally = tallyOf(catalog);

async function weir(catalogDir: string, ...words: string[]): Promise<{ code: number; out: string; error: string }> {
  const said = { out: "", error: "" };
  const terminal = {
    out: (text: string) => void (said.out += `${text}\n`),
    error: (text: string) => void (said.error += `${text}\n`),
  };
  const service = () => {
    throw new Error("A service is asked");
  };
  return { code: await run(["catalog", ...words], { service, files: () => ({ catalogDir }) }, terminal), ...said };
}

async function copyOfCatalog(): Promise<TemporaryFolder> {
  const copy = await temporaryFolder();
  cpSync(folder, copy.path, { recursive: true });
  return copy;
}

describe("the catalog", () => {
  test("obeys every rule", () => {
    expect(problems).toEqual([]);
  });

  test("contains the 672 connectors, and each of the specification's 21 categories has some", () => {
    expect(catalog.connectors.length).toBeGreaterThanOrEqual(672);
    expect(catalog.categories).toHaveLength(21);
    expect(tally.categories.filter(({ connectors }) => connectors === 0)).toEqual([]);
    expect(catalog.categories.at(0)).toBe("Identity & SSO");
    expect(catalog.categories.at(-1)).toBe("Vendor Management");
  });

  test("offers an API token for all connectors but one", () => {
    const without = catalog.connectors.filter(({ methods }) => !methods.includes("api_token"));
    expect(without.map(({ methods }) => methods)).toEqual([["record_only"]]);
  });

  test("has the seven standard notes of the specification", () => {
    expect(catalog.grantNotes.map(({ code }) => code)).toEqual([
      "no_read_only_credential",
      "admin_credential_for_full_user_list",
      "scim_token_can_write",
      "broader_grant_optional",
      "carries_user_rights",
      "vendor_plan_required",
      "oauth_cannot_read_everything",
    ]);
  });

  test("produces rows that are valid by the published schema", () => {
    const rows: unknown[] = JSON.parse(exportCatalog(catalog, "json")).connectors;
    expect(rows).toHaveLength(catalog.connectors.length);
    expect(rows.flatMap((row) => [...Value.Errors(ConnectorRow, row)])).toEqual([]);
  });

  test("has a secret in every form, except in the specification's generic form", () => {
    const open = catalog.connectors.filter(({ credential_sets = [] }) =>
      credential_sets.some(({ fields }) => !fields.some(({ secret }) => secret)),
    );
    // An assumed role is named; it is not proved by a secret.
    expect(open.map(({ slug }) => slug)).toEqual([
      "amazon-cognito",
      "amazon-inspector",
      "amazon-web-services",
      "aws-security-hub",
    ]);
  });

  test("treats no public half of a key pair as secret, and has separate fields for an id and its token", () => {
    const fields = catalog.connectors.flatMap(({ slug, credential_sets = [] }) =>
      credential_sets.flatMap((set) => set.fields.map(({ label, secret }) => ({ slug, label, secret }))),
    );
    expect(fields.filter(({ label, secret }) => secret && /\bpublic\b(?! api\b)/i.test(label))).toEqual([]);
    expect(fields.filter(({ label }) => label.includes(":"))).toEqual([]);
  });
});

const docs = readFileSync(new URL("../../../../docs/reference/connectors.md", import.meta.url), "utf8");

test("the example of a test in docs/reference/connectors.md is one", () => {
  const [, text = ""] = /```json schema=probe\n(\{\n[^`]+)```/.exec(docs) ?? [];
  expect([...Value.Errors(DeclaredProbe, JSON.parse(text))]).toEqual([]);
});

test("the example of docs/reference/connectors.md passes the check", () => {
  const [, text = ""] = /```json schema=connector\n(\{\n[^`]+)```/.exec(docs) ?? [];
  const { slug } = JSON.parse(text);
  const example = { name: `connectors/${slug}.json`, text };
  const judged = judgeConnectors({ ...files, connectors: [...files.connectors, example] });
  expect([judged.problems, judged.catalog.connectors.length]).toEqual([[], catalog.connectors.length + 1]);
});

describe("weir catalog check", () => {
  test("prints the counts by category and by evidence, and needs no service", async () => {
    const { code, out, error } = await weir(folder, "check");
    expect([code, error]).toEqual([0, ""]);
    const { connectors, specific, grants, docs, mcp } = tally.total;
    expect(out).toMatch(new RegExp(`^all +${[connectors, specific, grants, docs, mcp].join(" +")}$`, "m"));
    for (const { category } of tally.categories) expect(out).toContain(`${category} `);
    expect(out).toMatch(new RegExp(`^docs +${docs}$`, "m"));
  });

  test("counts a form as checked by the vendor's pages, or by two other witnesses, since the review began", () => {
    const checkedWith = (evidence: Connector["evidence"]) => {
      const { vendor_oauth: _, ...form } = sampleConnector({ grant: null, mcp: null, evidence });
      return tallyOf({ ...catalog, connectors: [form] }).checked;
    };
    const source: Connector["evidence"][number] = {
      url: "https://docs.acme.example",
      for: ["fields", "docs"],
      seen: "2026-11-28",
    };
    const counted = { since: "2026-11-28", vendor: 0, witnesses: 0, unchecked: 0 };
    const vendor = { ...source, by: "vendor" as const };
    const witness = { ...source, by: "witness" as const };
    expect(checkedWith([vendor])).toEqual({ ...counted, vendor: 1 });
    expect(checkedWith([{ ...vendor, for: ["docs"] }])).toEqual({ ...counted, unchecked: 1 });
    expect(checkedWith([{ ...vendor, seen: "2026-11-20" }])).toEqual({ ...counted, unchecked: 1 });
    expect(checkedWith([witness])).toEqual({ ...counted, unchecked: 1 });
    expect(checkedWith([witness, { ...witness, url: "https://two.example" }])).toEqual({ ...counted, witnesses: 1 });
    const { vendor: byVendor, witnesses, unchecked } = tally.checked;
    expect(byVendor + witnesses + unchecked).toBe(tally.total.specific);
  });

  test("prints the same as one JSON document", async () => {
    const { code, out } = await weir(folder, "check", "--json");
    expect([code, JSON.parse(out)]).toEqual([0, { ok: true, ...tally, model_catalog: expect.any(Object), problems: [] }]);
  });

  test("accepts a 673rd connector as one more file", async () => {
    await using copy = await copyOfCatalog();
    const notes = catalog.grantNotes.map(({ code }) => code);
    writeFileSync(join(copy.path, "connectors", "acme-directory.json"), canonicalText(sampleConnector(), notes));
    const { code, out } = await weir(copy.path, "check", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out).total.connectors).toBe(tally.total.connectors + 1);
    const exported = (await weir(copy.path, "export", "--format", "ndjson")).out.split("\n");
    const before = new Set(exportCatalog(catalog, "ndjson").split("\n"));
    expect(exported.filter((line) => !before.has(line)).join()).toContain('"slug":"acme-directory"');
  });

  test("exits with 1 and names file, field and change on stderr when a file has a problem", async () => {
    await using copy = await copyOfCatalog();
    const path = join(copy.path, "connectors", "vouch.json");
    writeFileSync(path, readFileSync(path, "utf8").replace("Cyber Insurance", "Gardening"));
    const message = 'connectors/vouch.json: category: "Gardening" is not in categories.json: write one of its names';
    expect(await weir(copy.path, "check")).toEqual({ code: 1, out: "Problems: 1\n", error: `${message}\n` });
    expect(await weir(copy.path, "export")).toEqual({
      code: 1,
      out: "",
      error: `weir: ${message} (1 in all: weir catalog check lists them)\n`,
    });
  });

  test("exits with 1 without a catalog, and with 2 for an unknown argument", async () => {
    expect(await weir("/nowhere", "check")).toMatchObject({ code: 1, out: "" });
    expect((await weir(folder, "export", "--format", "xml")).code).toBe(2);
    expect((await weir(folder, "check", "--as", "a@b.c")).error).toBe(
      'weir: Cannot act as "a@b.c": catalog check calls no service\n',
    );
  });
});

test.each(["ndjson", "csv", "json"] as const)("weir catalog export prints the %s to the byte", async (format) => {
  expect(await weir(folder, "export", "--format", format)).toEqual({ code: 0, error: "", out: exportCatalog(catalog, format) });
});

describe("weir catalog fmt", () => {
  test("writes files that are laid out otherwise as the check wants them, keeps the others, and names what it cannot read", async () => {
    await using copy = await copyOfCatalog();
    const [vouch, okta, words] = ["connectors/vouch.json", "connectors/okta.json", "search-words.json"];
    const before = new Map([vouch, words].map((name) => [name, readFileSync(join(copy.path, name), "utf8")]));
    for (const [name, text] of before) writeFileSync(join(copy.path, name), JSON.stringify(JSON.parse(text)));
    writeFileSync(join(copy.path, okta), "{");
    const { code, out, error } = await weir(copy.path, "fmt");
    expect([code, out]).toEqual([1, `${vouch}\n${words}\n`]);
    expect(error).toStartWith(`${okta}: is not JSON: `);
    for (const [name, text] of before) expect(readFileSync(join(copy.path, name), "utf8")).toBe(text);
  });
});

describe("weir catalog search", () => {
  test("prints the best matches first, and says which words it took in place of mistyped ones", async () => {
    const { code, out } = await weir(folder, "search", "oktaa", "--limit", "1");
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^Did you mean "okta"\? Nothing is called "oktaa".\n.*\nokta +Okta .*\n1 of 2: /),
    ]);
    const found = JSON.parse((await weir(folder, "search", "azure ad", "--json")).out);
    expect([found.connectors[0].slug, found.did_you_mean]).toEqual(["microsoft-entra-id", null]);
  });

  test("works in a folder without search-words.json, by names alone", async () => {
    await using copy = await copyOfCatalog();
    rmSync(join(copy.path, "search-words.json"));
    expect(JSON.parse((await weir(copy.path, "check", "--json")).out).ok).toBe(true);
    const slugsFor = async (q: string) =>
      JSON.parse((await weir(copy.path, "search", q, "--json")).out).connectors.map(({ slug }: { slug: string }) => slug);
    expect([await slugsFor("okta"), await slugsFor("k8s")]).toEqual([["okta", "auth0"], []]);
  });

  test("the check reports words of unknown connectors and categories, and words that stand twice", async () => {
    const text = canonicalSearchWords({
      connectors: [
        { connector: "nobody", words: ["nobody inc"], source: "https://nobody.example" },
        { connector: "okta", words: ["okta wic", "Okta WIC"], source: "https://www.okta.com" },
      ],
      categories: [{ category: "Gardening", words: ["plants"] }],
      methods: [],
      popular: ["okta", "okta"],
    });
    expect(judgeSearchWords({ name: "search-words.json", text }, catalog).problems.map(formatProblem)).toEqual([
      'search-words.json: connectors[0].connector: "nobody" is not the id of a connector: correct it',
      'search-words.json: categories[0].category: "Gardening" is not in categories.json: write one of its names',
      'search-words.json: connectors[1].words[1]: "Okta WIC" occurs twice for okta: remove one',
      'search-words.json: popular[1]: "okta" occurs twice: remove one',
    ]);
  });
});
