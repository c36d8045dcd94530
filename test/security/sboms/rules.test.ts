/** "Validation with messages that name the path": the rules of each format for the fields that are read. */
import { describe, expect, test } from "bun:test";
import {
  bomJson,
  bomXml,
  cyclonedxVersions,
  read,
  refusalOf,
  spdx3Json,
  spdxJson,
  spdxTagValue,
} from "../../support/security/sbom-documents.ts";

type Bom = ReturnType<typeof bomJson>;
const library = { type: "library", name: "x", version: "1" };

/** A 1.6 document with one component. */
const withComponent = (component: object, version = "1.6") => ({
  ...bomJson(version),
  dependencies: [],
  components: [component],
});
const withLicences = (licenses: object[], version = "1.6") => withComponent({ ...library, licenses }, version);

function firstProblem(document: unknown): string {
  const refusal = refusalOf(document);
  expect(refusal.code).toBe("invalid");
  return `${refusal.problems[0]?.path}: ${refusal.problems[0]?.says}`;
}

const cyclonedx: [string, unknown, string][] = [
  ["a component without a name", withComponent({ type: "library" }), "components[0].name: is required"],
  ["a component without a type", withComponent({ name: "x" }), "components[0].type: is required"],
  ["an unknown type", withComponent({ ...library, type: "foo" }), "components[0].type: must be one of application"],
  ["a name that is a number", withComponent({ ...library, name: 3 }), "components[0].name: must be text, not a number"],
  ["a name that is null", withComponent({ ...library, name: null }), "components[0].name: must be text, not null"],
  ["components that are an object", { ...bomJson("1.6"), components: {} }, "components: must be a list, not an object"],
  [
    "an unknown scope",
    withComponent({ ...library, scope: "foo" }),
    "components[0].scope: must be one of required, optional, excluded",
  ],
  [
    "an unknown field",
    withComponent({ ...library, pulr: "x" }),
    "components[0].pulr: is not a field here in this version of the format",
  ],
  [
    "an unknown hash",
    withComponent({ ...library, hashes: [{ alg: "FOO", content: "00" }] }),
    "components[0].hashes[0].alg: must be one of",
  ],
  [
    "a hash that is none",
    withComponent({ ...library, hashes: [{ alg: "MD5", content: "x" }] }),
    "components[0].hashes[0].content: must be 32",
  ],
  [
    "an unknown licence id",
    withLicences([{ license: { id: "Apache-2" } }]),
    "components[0].licenses[0].license.id: must be an id of SPDX",
  ],
  [
    "a licence with id and name",
    withLicences([{ license: { id: "MIT", name: "x" } }]),
    "components[0].licenses[0].license: must have either",
  ],
  ["a licence with neither", withLicences([{ license: {} }]), "components[0].licenses[0].license: must have either"],
  [
    "two expressions in 1.6",
    withLicences([{ expression: "A" }, { expression: "B" }]),
    "components[0].licenses: must hold one expression",
  ],
  [
    "a timestamp without a time",
    { ...bomJson("1.6"), metadata: { timestamp: "2026-01-31" } },
    "metadata.timestamp: must be a date and time",
  ],
  ["a serial number that is none", { ...bomJson("1.6"), serialNumber: "urn:uuid:1" }, "serialNumber: must be urn:uuid:"],
  ["a dependency without a ref", { ...bomJson("1.6"), dependencies: [{ dependsOn: [] }] }, "dependencies[0].ref: is required"],
  ["an empty ref", withComponent({ ...library, "bom-ref": "" }), "components[0].bom-ref: must not be empty"],
  [
    "a range beside a version",
    withComponent({ ...library, versionRange: "vers:npm/*", isExternal: true }, "1.7"),
    "components[0].versionRange: must not",
  ],
  [
    "a range inside",
    withComponent({ type: "library", name: "x", versionRange: "vers:npm/*" }, "1.7"),
    "components[0].versionRange: is for",
  ],
  [
    "a fault in a nested component",
    withComponent({ ...library, components: [library, { ...library, components: [{ name: "deep" }] }] }),
    "components[0].components[1].components[0].type: is required",
  ],
];

describe("CycloneDX JSON is refused, naming the place, for", () => {
  test.each(cyclonedx)("%s", (_, document, problem) => {
    expect(firstProblem(document)).toStartWith(problem);
  });

  test.each(cyclonedxVersions)("a bom-ref that stands twice, in %s", (version) => {
    const twice = withComponent({ ...library, "bom-ref": "a", components: [{ ...library, "bom-ref": "a" }] }, version);
    expect(firstProblem(twice)).toBe('components[0].bom-ref: is not unique: "a" occurs more than once');
  });
});

test("versions 1.2 and 1.3 of CycloneDX allow fields that they do not know", () => {
  expect(read(withComponent({ ...library, pulr: "x" }, "1.3")).components).toHaveLength(1);
});

test("1.7 allows expressions and licences together, and a range for external components", () => {
  expect(read(withLicences([{ expression: "A" }, { license: { id: "MIT" } }], "1.7")).components[0]?.licenses).toEqual([
    "A",
    "MIT",
  ]);
  const external = read(withComponent({ type: "library", name: "x", isExternal: true, versionRange: "vers:npm/>=1" }, "1.7"));
  expect(external.components[0]).toMatchObject({ external: true, version: null, versionRange: "vers:npm/>=1" });
});

test("a package URL that cannot be read refuses nothing: its component is kept with the reason", () => {
  const [component] = read(withComponent({ ...library, purl: "npm/left@1" })).components;
  expect(component?.purl).toMatchObject({ written: "npm/left@1", parsed: null });
  expect(component?.purl.reason).not.toBe("");
});

test("all faults of a document are reported, up to a limit", () => {
  const components = Array.from({ length: 1_000 }, () => ({}));
  const refusal = refusalOf({ ...bomJson("1.6"), components });
  expect(refusal.problems).toHaveLength(20);
  expect(refusal.message).toMatch(/^components\[0\]\.type: is required \(and at least 99 more problems\)$/);
});

const xml: [string, (text: string) => string, string][] = [
  [
    "an unknown type",
    (text) => text.replace('type="file"', 'type="foo"'),
    "/bom/components/component[2]/components/component[1]/@type: must be one of",
  ],
  ["no name", (text) => text.replace("<name>right</name>", ""), "/bom/components/component[2]/name: is required"],
  [
    "two names",
    (text) => text.replace("<name>right</name>", "<name>a</name><name>b</name>"),
    "/bom/components/component[2]/name: must be text, not a list",
  ],
  [
    "a hash that is none",
    (text) => text.replace("e6b1", "zzzz"),
    "/bom/components/component[1]/hashes/hash[1]/text(): must be 32",
  ],
  ["an unknown element", (text) => text.replace(/scope>/g, "scape>"), "/bom/components/component[1]/scape: is not a field"],
  [
    "an unknown item",
    (text) => text.replace("</components>\n  <dep", "<comp/></components>\n  <dep"),
    "/bom/components/component[3]: must be an object",
  ],
  [
    "an unknown licence",
    (text) => text.replace("<id>MIT", "<id>Mitt"),
    "/bom/components/component[1]/licenses/*[1]/license/id: must be an id",
  ],
  [
    "no ref",
    (text) => text.replace('<dependency ref="right"/>', "<dependency/>"),
    "/bom/dependencies/dependency[2]/dependency[1]/@ref: must be text",
  ],
  [
    "a version that is no number",
    (text) => text.replace('version="1">', 'version="one">'),
    "/bom/@version: must be a whole number",
  ],
];

describe("CycloneDX XML is validated by the rules of JSON, with XPath locations, for", () => {
  test.each(xml)("%s", (_, change, problem) => {
    expect(firstProblem(change(bomXml("1.6")))).toStartWith(problem);
  });
});

const tagValue: [string, (text: string) => string, string][] = [
  [
    "a package without an SPDXID",
    (text) => text.replace("SPDXID: SPDXRef-left\n", ""),
    "line 23 (packages[1].SPDXID): is required",
  ],
  [
    "an SPDXID that stands twice",
    (text) => text.replace("SPDXID: SPDXRef-left", "SPDXID: SPDXRef-app"),
    "line 24 (packages[1].SPDXID): is not unique",
  ],
  [
    "an unknown relationship",
    (text) => text.replace("DEPENDS_ON SPDXRef-left", "NEEDS SPDXRef-left"),
    "line 21 (relationships[1].relationshipType): must be one of",
  ],
  ["a relationship of two words", (text) => text.replace("DEPENDS_ON SPDXRef-left", ""), "line 21 (relationships[1]"],
  ["no name", (text) => text.replace("DocumentName: app\n", ""), "name: is required"],
];

describe("SPDX tag-value is refused, naming the line, for", () => {
  test.each(tagValue)("%s", (_, change, problem) => {
    expect(firstProblem(change(spdxTagValue("2.3")))).toStartWith(problem);
  });

  test("a field given twice in one section", () => {
    const twice = spdxTagValue("2.3").replace("PackageVersion: 1.2.3", "PackageVersion: 1\nPackageVersion: 2");
    expect(refusalOf(twice).message).toStartWith("line 26: the document gives `versionInfo` a second time");
  });
});

describe("SPDX JSON is refused, naming the place, for", () => {
  test("a package without a name, a document without a date, a purpose before 2.3", () => {
    const document = spdxJson("2.3");
    expect(firstProblem({ ...document, packages: [{ SPDXID: "a", downloadLocation: "x" }] })).toBe(
      "packages[0].name: is required",
    );
    expect(firstProblem({ ...document, creationInfo: {} })).toBe("creationInfo.created: is required");
    const purpose = { ...document.packages[0], primaryPackagePurpose: "TOY" };
    expect(firstProblem({ ...document, packages: [purpose] })).toStartWith("packages[0].primaryPackagePurpose: must be one of");
  });

  test("an SPDX 3 element without a type, a package without a name, a package that occurs twice", () => {
    const document = spdx3Json();
    const withElement = (element: object) => ({ ...document, "@graph": [...document["@graph"], element] });
    expect(firstProblem(withElement({ spdxId: "urn:x" }))).toBe("@graph[11].type: is required");
    expect(firstProblem(withElement({ spdxId: "urn:x", type: "software_Package", creationInfo: "" }))).toBe(
      "@graph[11].name: is required of a software_Package",
    );
    expect(firstProblem(withElement({ spdxId: "urn:app", type: "software_Package", creationInfo: "", name: "x" }))).toStartWith(
      "@graph[11].spdxId: is not unique",
    );
  });
});

test("a Bom of the support file is valid in all versions", () => {
  const documents: Bom[] = cyclonedxVersions.map(bomJson);
  expect(documents.map((document) => read(document).components.length)).toEqual(documents.map(() => 3));
});
