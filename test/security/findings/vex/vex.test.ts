/** VEX documents: what their words mean, and which are refused. */
import { describe, expect, test } from "bun:test";
import { systemClock } from "../../../../src/kernel/clock.ts";
import { EventLoopYielder } from "../../../../src/process/event-loop-yielder.ts";
import { vexBytesMax, vexProductsMax, vexStatementsMax } from "../../../../src/security/findings/limits.ts";
import { justifications } from "../../../../src/security/findings/decision.ts";
import { readVex } from "../../../../src/security/findings/vex/read-vex.ts";
import type { VexStatement } from "../../../../src/security/findings/vex/statement.ts";
import { analysisOf, decisionOf, type Decided } from "../../../../src/security/findings/vex/words.ts";
import { failureOf } from "../../../support/failure-of.ts";

const decided = (
  status: Decided["status"],
  falsePositive = false,
  note: string | null = null,
  justification: Decided["justification"] = null,
): Decided => ({ status, falsePositive, note, justification });

describe("a decision", () => {
  test.each([
    [decided("open")],
    [decided("in_progress", false, "planned")],
    [decided("ignored", false, "accepted by the owner")],
    [decided("resolved")],
    [decided("open", true, "another package")],
    [decided("not_affected", false, "Never called\nin production", "code_not_reachable")],
    [decided("not_affected")],
    ...justifications.map((reason) => [decided("not_affected", false, null, reason)] as const),
  ])("%j is the same after an export and an import", (decision) => {
    expect(decisionOf(analysisOf(decision))).toEqual(decision);
  });

  test("to ignore a finding is an accepted risk, and no claim that the product is not affected", () => {
    expect(analysisOf(decided("ignored"))).toEqual({ state: "exploitable", response: ["will_not_fix"] });
    expect(analysisOf(decided("ignored", false, "not_affected: x"))).toMatchObject({ state: "exploitable" });
  });

  test("what is not reachable is never exported as exploitable", () => {
    expect(analysisOf(decided("not_affected", false, "Never called", "code_not_reachable"))).toEqual({
      state: "not_affected",
      justification: "code_not_reachable",
      detail: "Never called",
    });
  });

  test("a note is cut to the length of notes, without control characters", () => {
    const { note } = decisionOf({ state: "in_triage", detail: `\u001b[31m${"x".repeat(3_000)}` });
    expect([note?.length, note?.includes("\u001b")]).toEqual([2_000, false]);
  });
});

const bytesOf = (document: unknown) =>
  new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document));
const read = (document: unknown) => readVex(bytesOf(document), new EventLoopYielder(systemClock));
const about = ({ about: of }: VexStatement): string => {
  if (of.kind === "package")
    return `${of.package.identity} ${of.package.version}${of.within === null ? "" : ` in ${of.within.identity}`}`;
  return of.kind === "reference" ? `reference ${of.serial} ${of.bomRef}` : of.kind;
};
const document = (vulnerabilities: unknown) => ({ bomFormat: "CycloneDX", vulnerabilities });

describe("a CycloneDX document", () => {
  const analysis = { state: "resolved" };
  const own = "3e671687-395b-41f5-a30f-a58921a69b79";

  test("is read in UTF-16 too, as PowerShell redirects it", async () => {
    const text = JSON.stringify(document([{ id: "CVE-2024-0001", analysis, affects: [{ ref: "pkg:npm/a@1.0.0" }] }]));
    const readBytes = (bytes: Uint8Array) => readVex(bytes, new EventLoopYielder(systemClock));
    for (const mark of ["", "\ufeff"])
      expect(await readBytes(Buffer.from(mark + text, "utf16le"))).toEqual(await readBytes(Buffer.from(mark + text)));
    const half = Buffer.from(`\ufeff${text}`, "utf16le").subarray(0, -1);
    const latin1 = Buffer.from('{"é": 1}', "latin1");
    expect(await failureOf(readBytes(half))).toHaveProperty("message", "The document is not valid UTF-16");
    expect(await failureOf(readBytes(latin1))).toHaveProperty("message", "The document is not valid UTF-8");
  });

  test("names a component by purl, by bom-ref, nested or not, or by BOM-Link; its product and itself are the whole product", async () => {
    const refs = ["pkg:npm/%40a/b@1.0.0", "b", "nested", `urn:cdx:${own}/1#nested`, "app", `urn:cdx:${own}/1`];
    const elsewhere = ["unknown", "urn:cdx:F08A6CCD/1#x%20y", "urn:cdx:f08a6ccd/2", "urn:cdx:f08a6ccd/1#pkg:npm/c@1"];
    const affects = [...refs, ...elsewhere].map((ref) => ({ ref }));
    const nested = { "bom-ref": "nested", purl: "pkg:npm/nested@1" };
    const components = [
      { "bom-ref": "b", purl: "pkg:pypi/Zope.Interface@5.0", components: [{ name: "x", components: [nested] }] },
    ];
    const statements = await read({
      ...document([{ id: "CVE-2024-0001", analysis, affects }, { id: "CVE-2024-0002" }, { id: "ghsa-x", analysis }]),
      serialNumber: `urn:uuid:${own}`,
      metadata: { component: { "bom-ref": "app", name: "app" } },
      components,
    });
    expect(statements.map((one) => `${one.ids[0]} ${about(one)}`)).toEqual([
      "CVE-2024-0001 npm @a/b 1.0.0",
      "CVE-2024-0001 PyPI zope-interface 5.0",
      "CVE-2024-0001 npm nested 1",
      "CVE-2024-0001 npm nested 1",
      "CVE-2024-0001 product",
      "CVE-2024-0001 product",
      "CVE-2024-0001 reference null unknown",
      "CVE-2024-0001 reference f08a6ccd x y",
      "CVE-2024-0001 reference f08a6ccd null",
      "CVE-2024-0001 reference f08a6ccd pkg:npm/c@1",
      "GHSA-X product",
    ]);
  });

  test("has other ids of a vulnerability, and says when each analysis was made", async () => {
    const [first, second] = await read({
      ...document([
        {
          id: "CVE-2024-0001",
          references: [{ id: "GHSA-x" }, { id: "not an id" }],
          analysis: { ...analysis, lastUpdated: "2026-02-01T00:00:00Z" },
        },
        { id: "CVE-2024-0002", analysis: { ...analysis, firstIssued: "no time" } },
      ]),
      metadata: { timestamp: "2026-01-01T00:00:00Z" },
    });
    expect([first?.ids, first?.at, second?.at]).toEqual([
      ["CVE-2024-0001", "GHSA-X"],
      Date.UTC(2026, 1, 1),
      Date.UTC(2026, 0, 1),
    ]);
  });

  test.each([
    [
      "not_affected",
      [
        ["2.0.0", "unaffected"],
        ["0.9.0", "affected"],
      ],
      "2.0.0",
    ],
    ["not_affected", [["1.0.0", undefined]], "1.0.0"],
    [
      "exploitable",
      [
        ["2.0.0", "unaffected"],
        ["0.9.0", "affected"],
        ["0.8.0", "unknown"],
      ],
      "0.9.0 0.8.0",
    ],
  ])("%s is about the versions with the status that it means: %j", async (state, listed, reached) => {
    const versions = listed.map(([version, status]) => ({ version, status }));
    const [statement] = await read(
      document([{ id: "CVE-2024-0001", analysis: { state }, affects: [{ ref: "pkg:npm/a", versions }] }]),
    );
    const rules = statement?.about.kind === "package" ? statement.about.versions : [];
    expect(rules.filter((rule) => rule.reached).map(({ text }) => text)).toEqual(reached.split(" "));
  });

  test.each([
    [{ bomFormat: "CycloneDX", vulnerabilities: {} }, "vulnerabilities must be a list"],
    [document([{ id: "x", analysis }]), "vulnerabilities[0].id must be the id of a vulnerability"],
    [document([{ id: "CVE-2024-0001", analysis: { state: "maybe" } }]), "vulnerabilities[0].analysis.state must be one of"],
    [document([{ id: "CVE-2024-0001", analysis, affects: [{}] }]), "vulnerabilities[0].affects[0].ref must be a text"],
    [
      document([{ id: "CVE-2024-0001", analysis, affects: [{ ref: "x", versions: [{}] }] }]),
      "vulnerabilities[0].affects[0].versions[0] must have a version or a range",
    ],
    [
      document([{ id: "CVE-2024-0001", analysis, affects: [{ ref: "x", versions: [{ version: "1", status: "fixed" }] }] }]),
      "vulnerabilities[0].affects[0].versions[0].status must be one of affected, unaffected, unknown",
    ],
    [
      document([{ id: "CVE-2024-0001", analysis, references: Array.from({ length: 101 }, () => ({ id: "GHSA-x" })) }]),
      "vulnerabilities[0].id has more than 100 other ids",
    ],
    [
      document([{ id: "CVE-2024-0001", analysis, affects: Array.from({ length: vexStatementsMax + 1 }, () => ({ ref: "x" })) }]),
      "more than 5000 statements",
    ],
  ])("%# is refused with its place", async (given, reason) => {
    expect(await failureOf(read(given))).toHaveProperty("message", expect.stringContaining(reason));
  });
});

const openVex = (...statements: unknown[]) => ({
  "@context": "https://openvex.dev/ns/v0.2.0",
  "@id": "https://example.com/vex",
  author: "a",
  timestamp: "2026-01-01T00:00:00Z",
  version: 1,
  statements,
});

describe("an OpenVEX document", () => {
  const vulnerability = { name: "CVE-2024-0001", aliases: ["GHSA-x"] };
  const products = [{ "@id": "pkg:npm/a@1.0.0" }];

  test("names products, or their subcomponents, and a later time of a statement overrides the document's", async () => {
    const parts = [
      { "@id": "pkg:npm/b@2.0.0" },
      { "@id": "x", identifiers: { purl: "pkg:npm/c" } },
      { identifiers: { cpe23: "cpe:2.3:a" } },
    ];
    const statements = await read(
      openVex(
        { vulnerability, products, status: "fixed", timestamp: "2025-01-01T00:00:00Z", last_updated: "2026-03-01T00:00:00Z" },
        { vulnerability, products: [{ "@id": "pkg:oci/app@1", subcomponents: parts }], status: "fixed" },
      ),
    );
    expect(statements.map((one) => `${one.ids.join(" ")} ${about(one)} ${new Date(one.at).getUTCMonth()}`)).toEqual([
      "CVE-2024-0001 GHSA-X npm a 1.0.0 2",
      "CVE-2024-0001 GHSA-X npm b 2.0.0 in pkg:oci//app 0",
      "CVE-2024-0001 GHSA-X npm c null in pkg:oci//app 0",
      "CVE-2024-0001 GHSA-X nothing 0",
    ]);
  });

  test.each<[object, Decided]>([
    [{ status: "under_investigation", status_notes: "looking" }, decided("open", false, "looking")],
    [{ status: "affected", action_statement: "Upgrade to 2.0" }, decided("open", false, "Upgrade to 2.0")],
    [{ status: "fixed" }, decided("resolved")],
    ...(
      [
        ["component_not_present", "code_not_present"],
        ["vulnerable_code_not_present", "code_not_present"],
        ["vulnerable_code_not_in_execute_path", "code_not_reachable"],
        ["vulnerable_code_cannot_be_controlled_by_adversary", "requires_environment"],
        ["inline_mitigations_already_exist", "protected_by_mitigating_control"],
      ] as const
    ).map(([justification, becomes]): [object, Decided] => [
      { status: "not_affected", justification },
      decided("not_affected", false, null, becomes),
    ]),
    [{ status: "not_affected", impact_statement: "Never called" }, decided("not_affected", false, "Never called")],
  ])("%j is a decision", async (words, expected) => {
    const [statement] = await read(openVex({ vulnerability, products, ...words }));
    expect(statement?.decided).toEqual(expected);
  });

  test.each([
    [{ vulnerability: "CVE-2024-0001" }, "statements[0].vulnerability must be an object"],
    [{ vulnerability: {}, status: "fixed" }, "statements[0].vulnerability.name must be the id of a vulnerability"],
    [{ vulnerability, products, status: "maybe" }, "statements[0].status must be one of"],
    [{ vulnerability, products: ["pkg:npm/a"], status: "fixed" }, "statements[0].products[0] must be an object"],
    [{ vulnerability, products: [{}], status: "fixed" }, "statements[0].products[0] must have an @id or identifiers"],
  ])("%j is refused with its place", async (statement, reason) => {
    expect(await failureOf(read(openVex(statement)))).toHaveProperty("message", expect.stringContaining(reason));
  });
});

const csaf = (tree: object, ...vulnerabilities: object[]) => ({
  document: { category: "csaf_vex", csaf_version: "2.0", tracking: { current_release_date: "2026-01-01T00:00:00Z" } },
  product_tree: tree,
  vulnerabilities,
});

describe("a CSAF document", () => {
  const product = (id: string, purl?: string) => ({
    name: id,
    product_id: id,
    ...(purl !== undefined && { product_identification_helper: { purl } }),
  });

  test("names products by package URL in branches, ranges, relationships, paths and lists", async () => {
    const versioned = { category: "product_version_range", name: "vers:npm/<2.0.0", product: product("range", "pkg:npm/b") };
    const branch = { category: "product_version", name: "1", product: product("exact", "pkg:npm/a@1.0.0") };
    const tree = {
      branches: [
        { category: "vendor", name: "v", branches: [{ category: "product_name", name: "n", branches: [branch, versioned] }] },
      ],
      full_product_names: [
        product("app", "pkg:oci/app@1"),
        product("plain"),
        { ...product("list"), product_identification_helper: { purls: ["no", "pkg:npm/c@1"] } },
      ],
      relationships: [
        {
          category: "default_component_of",
          product_reference: "exact",
          relates_to_product_reference: "app",
          full_product_name: product("part"),
        },
      ],
      product_paths: [
        {
          beginning_product_reference: "list",
          full_product_name: product("path"),
          subpaths: [{ category: "installed_on", next_product_reference: "app" }],
        },
      ],
    };
    const ids = ["exact", "range", "part", "path", "plain", "missing"];
    const statements = await read(
      csaf(tree, { cve: "CVE-2024-0001", ids: [{ text: "GHSA-x" }], product_status: { fixed: ids } }),
    );
    expect(statements.map(about)).toEqual([
      "npm a 1.0.0",
      "npm b null",
      "npm a 1.0.0 in pkg:oci//app",
      "npm c 1 in pkg:oci//app",
      "nothing",
      "nothing",
    ]);
    const [, range] = statements;
    expect(range?.about).toMatchObject({ versions: [{ text: "vers:npm/<2.0.0", isRange: true, reached: true }] });
    expect(statements[0]?.ids).toEqual(["CVE-2024-0001", "GHSA-X"]);
  });

  const tree = { full_product_names: [product("a", "pkg:npm/a@1.0.0")], product_groups: [{ group_id: "g", product_ids: ["a"] }] };
  const at = { product_ids: ["a"] };

  test.each<[object, Decided | null]>([
    [{ product_status: { under_investigation: ["a"] } }, decided("open")],
    [{ product_status: { unknown: ["a"] } }, decided("open")],
    [{ product_status: { recommended: ["a"] } }, null],
    [{ product_status: { first_fixed: ["a"], fixed: ["a"] } }, decided("resolved")],
    [{ product_status: { known_affected: ["a"] } }, decided("open")],
    [
      { product_status: { last_affected: ["a"] }, remediations: [{ category: "vendor_fix", details: "Soon", group_ids: ["g"] }] },
      decided("in_progress", false, "Soon"),
    ],
    [
      { product_status: { known_affected: ["a"] }, remediations: [{ category: "no_fix_planned", details: "No", ...at }] },
      decided("ignored", false, "No"),
    ],
    [
      {
        product_status: { known_affected: ["a"] },
        remediations: [
          { category: "no_fix_planned", details: "No", ...at },
          { category: "workaround", details: "Switch it off", ...at },
        ],
      },
      decided("in_progress", false, "No"),
    ],
    [
      { product_status: { known_affected: ["a"] }, remediations: [{ category: "none_available", details: "None", ...at }] },
      decided("open", false, "None"),
    ],
    [
      {
        product_status: { known_not_affected: ["a"] },
        flags: [{ label: "vulnerable_code_not_in_execute_path", group_ids: ["g"] }],
      },
      decided("not_affected", false, null, "code_not_reachable"),
    ],
    [
      { product_status: { known_not_affected: ["a"] }, threats: [{ category: "impact", details: "Not used", ...at }] },
      decided("not_affected", false, "Not used"),
    ],
  ])("%j is a decision", async (words, expected) => {
    const [statement] = await read(csaf(tree, { cve: "CVE-2024-0001", ...words }));
    expect(statement?.decided ?? null).toEqual(expected);
  });

  test.each([
    [{ product_status: { fixed: ["a"], known_affected: ["a"] } }, 'vulnerabilities[0].product_status has two statuses for "a"'],
    [{ cve: "x" }, "vulnerabilities[0].cve must be the id of a vulnerability"],
    [{ flags: {} }, "vulnerabilities[0].flags must be a list"],
    [
      { flags: [{ label: "x", product_ids: Array.from({ length: vexProductsMax + 1 }, () => "a") }] },
      "vulnerabilities[0].flags names products more than 10000 times",
    ],
  ])("%# is refused with its place", async (given, reason) => {
    expect(await failureOf(read(csaf(tree, { cve: "CVE-2024-0001", ...given })))).toHaveProperty(
      "message",
      expect.stringContaining(reason),
    );
  });

  test("of more products than are taken is refused", async () => {
    const full_product_names = Array.from({ length: vexProductsMax + 1 }, (_, index) => product(String(index)));
    expect(await failureOf(read(csaf({ full_product_names })))).toHaveProperty(
      "message",
      expect.stringContaining("more than 10000 products"),
    );
  });
});

describe("any other document", () => {
  test.each([
    ["hello", "not valid JSON"],
    ["[]", "The document is JSON that is not an object. Weir reads CycloneDX in JSON, OpenVEX 0.2.0, and CSAF 2.0 or 2.1"],
    ["<bom/>", "The document is XML. Weir reads"],
    ['{"bomFormat":"CycloneDX","bomFormat":"SPDX"}', "twice"],
    [{ bomFormat: "SPDX" }, 'The document is JSON whose bomFormat is "SPDX". Weir reads CycloneDX in JSON'],
    [{}, "The document is JSON of an unknown format. Weir reads"],
    [{ spdxVersion: "SPDX-2.3" }, "The document is an SPDX document, which has no statements. Weir reads"],
    [{ "@context": "https://openvex.dev/ns" }, 'The document is OpenVEX "0.0.1". Weir reads'],
    [{ document: { csaf_version: "1.2" } }, 'The document is CSAF "1.2". Weir reads'],
    [
      { document: { csaf_version: "2.0", category: "csaf_security_advisory" } },
      'The document is CSAF 2.0 of the category "csaf_security_advisory". Weir reads',
    ],
    [{ predicateType: "https://openvex.dev/ns", predicate: {} }, "import its field `predicate` alone"],
    [`{"bomFormat":${"[".repeat(40)}${"]".repeat(40)}}`, "nested deeper than 32 levels"],
    [`{"bomFormat":[${"0,".repeat(vexBytesMax / 4)}0]}`, "more than 120000 JSON values"],
  ])("%# is refused with what it is and what is read", async (given, reason) => {
    expect(await failureOf(read(given))).toHaveProperty("message", expect.stringContaining(reason));
  });
});
