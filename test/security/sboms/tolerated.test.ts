/** "What real writers write is taken, with a line in `warnings`": what each format forbids and no reader can misread. */
import { describe, expect, test } from "bun:test";
import type { SbomDocument } from "../../../src/security/sboms/document.ts";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import {
  bomJson,
  bomXml,
  contentOf,
  cyclonedxVersions,
  read,
  spdx3Json,
  spdxJson,
  spdxTagValue,
} from "../../support/security/sbom-documents.ts";

const library = { type: "library", name: "x", version: "1" };
const withComponent = (component: object, version = "1.6") => ({
  ...bomJson(version),
  dependencies: [],
  components: [component],
});
const first = ({ components: [component] }: SbomDocument) => component;
const utf16 = (text: string) => readSbom(new Uint8Array(Buffer.from(text, "utf16le")));

/** The same content as the document of the support file, and one warning. */
function expectSame(document: SbomDocument, plain: SbomDocument, warning: string): void {
  expect({ ...contentOf(document), created: plain.created }).toEqual({
    ...contentOf(plain),
    digest: document.digest,
    warnings: [warning],
  });
}

const cyclonedx: [string, string, object, object, string][] = [
  ["null for an optional field", "1.6", { purl: null }, { version: "1" }, "components[0].purl: is null, and counts as absent"],
  [
    "null for an optional field of 1.2",
    "1.2",
    { scope: null },
    { scope: null },
    "components[0].scope: is null, and counts as absent",
  ],
  [
    "null beside a license's id",
    "1.6",
    { licenses: [{ license: { id: "MIT", name: null } }] },
    { licenses: ["MIT"] },
    "components[0].licenses[0].license.name: is null, and counts as absent",
  ],
  ["an empty word", "1.6", { scope: "" }, { scope: null }, "components[0].scope: is empty, and counts as absent"],
  [
    "no version until 1.3",
    "1.3",
    { version: null },
    { version: null },
    "components[0].version: is required in this version of the format, and is missing",
  ],
  ["a field of a later version", "1.5", { tags: [] }, {}, "components[0].tags: is a field of a later version of the format"],
  [
    "a field of a later version that is read",
    "1.6",
    { isExternal: true },
    { external: true },
    "components[0].isExternal: is a field of a later version of the format",
  ],
  ["a later type", "1.4", { type: "data" }, { type: "data" }, "components[0].type: has a value of a later version of the format"],
  [
    "a type in other letters",
    "1.6",
    { type: "OPERATING_SYSTEM" },
    { type: "operating-system" },
    'components[0].type: is spelled "OPERATING_SYSTEM", and read as operating-system',
  ],
  [
    "CycloneDX's command line's type",
    "1.6",
    { type: "Null" },
    { type: null },
    "components[0].type: is Null, and counts as absent",
  ],
  [
    "a license's id in other capitals",
    "1.6",
    { licenses: [{ license: { id: "apache-2.0" } }] },
    { licenses: ["Apache-2.0"] },
    "components[0].licenses[0].license.id: is an id of SPDX's license list in other capitals",
  ],
  [
    "an expression as a license's id",
    "1.6",
    { licenses: [{ license: { id: "(MIT OR GPL-2.0+) AND LicenseRef-own" } }] },
    { licenses: ["(MIT OR GPL-2.0+) AND LicenseRef-own"] },
    "components[0].licenses[0].license.id: is an expression or a document's own id, which belongs into another field",
  ],
];

describe("a component of CycloneDX JSON is read with a warning that has", () => {
  test.each(cyclonedx)("%s", (_, version, written, component, warning) => {
    const document = read(withComponent({ ...library, ...written }, version));
    expect(first(document)).toMatchObject(component);
    expect(document.warnings).toEqual([warning]);
  });

  test("the authors that pnpm writes into 1.5, with one line however many there are", () => {
    const components = Array.from({ length: 90 }, (_, index) => ({ ...library, name: `x${index}`, authors: [{ name: "a" }] }));
    expect(read({ ...bomJson("1.5"), dependencies: [], components }).warnings).toEqual([
      "components[0].authors: is a field of a later version of the format (and 89 more)",
    ]);
  });
});

const uuid = "3e671687-395b-41f5-a30f-a58921a69b79";
const serialNumbers: [string, string | null][] = [
  ["", null],
  [`urn:uuid:${uuid.toUpperCase()}`, `urn:uuid:${uuid}`],
  [`{${uuid}}`, `urn:uuid:${uuid}`],
  [uuid, `urn:uuid:${uuid}`],
];
const times = ["2026-04-13T14:01:37.050912", "2026-04-13T14:01:37+0000", "2026-04-13 14:01:37.05 +0000 UTC", ""];

describe.each(cyclonedxVersions)("CycloneDX %s is read, with a warning", (version) => {
  test.each(serialNumbers)("with the serial number %j", (serialNumber, documentId) => {
    const document = read({ ...bomJson(version), serialNumber });
    expect(document.documentId).toBe(documentId);
    expect(document.warnings).toEqual([expect.stringMatching(/^serialNumber: is (?:empty|a UUID in another form)/)]);
  });

  test.each(times)("with the time %j", (timestamp) => {
    const json = bomJson(version);
    const document = read({ ...json, metadata: { ...json.metadata, timestamp } });
    expect(document.components).toHaveLength(3);
    expect(document.warnings).toEqual([expect.stringMatching(/^metadata\.timestamp: is /)]);
  });

  test("in XML, where a time without a zone and a UUID in braces are valid", () => {
    const plain = bomXml(version);
    const valid = plain.replace("12:00:00Z", "12:00:00").replace(`urn:uuid:${uuid}`, `{${uuid}}`);
    expect(read(valid)).toMatchObject({ warnings: [], documentId: `urn:uuid:${uuid}` });
    expectSame(
      read(plain.replace("12:00:00Z", "12:00:00+0000")),
      read(plain),
      "/bom/metadata/timestamp: is a time in a form that the format does not allow",
    );
    expectSame(
      read(plain.replace('type="file"', 'type="FILE"')),
      read(plain),
      '/bom/components/component[2]/components/component[1]/@type: is spelled "FILE", and read as file',
    );
  });
});

describe("encodings", () => {
  test.each([
    ["JSON", JSON.stringify(bomJson("1.6")), "is encoded in UTF-16, and has to be UTF-8"],
    ["tag-value", spdxTagValue("2.3"), "is encoded in UTF-16, and has to be UTF-8"],
    ["XML that says UTF-8", bomXml("1.6"), "is encoded in UTF-16, and says that it is in UTF-8"],
  ])("%s in UTF-16 is read with a warning, with and without a byte order mark", (_, text, warning) => {
    for (const mark of ["", "\ufeff"]) expectSame(utf16(mark + text), read(text), `document: ${warning}`);
  });

  test("XML in UTF-16 needs its mark, and XML in the encoding that it declares needs nothing", () => {
    const inUtf16 = bomXml("1.6").replace("UTF-8", "UTF-16");
    expect(utf16(`\ufeff${inUtf16}`).warnings).toEqual([]);
    expect(utf16(inUtf16).warnings).toEqual(["document: is encoded in UTF-16 without a byte order mark"]);
    const latin1 = readSbom(new Uint8Array(Buffer.from(bomXml("1.6").replace("UTF-8", "ISO-8859-1"), "latin1")));
    expect(contentOf(latin1)).toEqual(contentOf(read(bomXml("1.6"))));
  });

  test("bounds hold for what is decoded: a key that stands twice is refused in UTF-16 too", () => {
    expect(() => utf16('{"bomFormat":"CycloneDX","bomFormat":"CycloneDX"}')).toThrow("twice in one object");
  });
});

test("the answer of GitHub's API is read as the SBOM that it holds", () => {
  expectSame(
    read({ sbom: spdxJson("2.3") }),
    read(spdxJson("2.3")),
    "document: is an object whose field `sbom` holds the SBOM, which is read",
  );
});

const system = { SPDXID: "SPDXRef-os", name: "alpine", downloadLocation: "NONE" };

describe("SPDX is read", () => {
  test.each(["OPERATING-SYSTEM", "operating_system", "OPERATING_SYSTEM"])(
    "with the purpose %s, which Trivy or the text of 2.3 spells so",
    (purpose) => {
      const json = read({ ...spdxJson("2.3"), relationships: [], packages: [{ ...system, primaryPackagePurpose: purpose }] });
      const text = read(
        `${spdxTagValue("2.3")}\nPackageName: os\nSPDXID: SPDXRef-os\nPackageDownloadLocation: NONE\nPrimaryPackagePurpose: ${purpose}\n`,
      );
      expect(first(json)?.type).toBe("operating-system");
      expect(text.components.find(({ name }) => name === "os")?.type).toBe("operating-system");
      const isPlain = purpose === "OPERATING_SYSTEM";
      expect(json.warnings).toEqual(
        isPlain ? [] : [`packages[0].primaryPackagePurpose: is spelled "${purpose}", and read as OPERATING_SYSTEM`],
      );
      expect(text.warnings).toHaveLength(isPlain ? 0 : 1);
      if (!isPlain) expect(text.warnings[0]).toMatch(/^line \d+ \(packages\[3\]\.primaryPackagePurpose\): is spelled/);
    },
  );

  test("with a purpose of SPDX 3, null for optional fields, and without the licenses that 2.2 demands", () => {
    const written = { ...system, primaryPackagePurpose: "DEVICE_DRIVER", versionInfo: null, externalRefs: null, checksums: null };
    const document = read({ ...spdxJson("2.3"), relationships: null, packages: [written] });
    expect(first(document)).toMatchObject({ type: "device-driver", version: null });
    expect(document.warnings).toHaveLength(5);
    const old = read({ ...spdxJson("2.2"), relationships: [], packages: [system] });
    expect(old.warnings).toEqual([
      "packages[0].licenseConcluded: is required in this version of the format, and is missing",
      "packages[0].licenseDeclared: is required in this version of the format, and is missing",
      "packages[0].copyrightText: is required in this version of the format, and is missing",
    ]);
  });

  test("as Trivy wrote it in 2022: without downloadLocation, and with DESCRIBE", () => {
    const plain = { ...spdxJson("2.3"), dataLicense: "CC0-1.0" };
    const { dataLicense: _, ...bare } = plain;
    const relationships = plain.relationships.map((one) =>
      one.relationshipType === "DESCRIBES" ? { ...one, relationshipType: "DESCRIBE" } : one,
    );
    const packages = plain.packages.map(({ downloadLocation: __, ...one }) => one);
    const document = read({ ...bare, relationships, packages });
    expect({ ...document, warnings: [] as string[] }).toMatchObject({ ...read(plain), sha256: document.sha256 });
    expect(document.warnings).toEqual([
      "packages[0].downloadLocation: is required in this version of the format, and is missing (and 2 more)",
      'relationships[0].relationshipType: is spelled "DESCRIBE", and read as DESCRIBES',
      "dataLicense: is required in this version of the format, and is missing",
    ]);
  });

  const purls = ["pkg:generic/x@1", "pkg:npm/%zz", "pkg:npm/x@1.0.0", "pkg:pypi/x@1"];
  const chosen = "has several package URLs; the first of an ecosystem that advisories are about is read";
  const refOf = (referenceLocator: string) => ({ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator });

  test("with a package URL whose type is written in capitals", () => {
    const externalRefs = [{ ...refOf("pkg:npm/x@1.0.0"), referenceType: "PURL" }];
    const document = read({ ...spdxJson("2.3"), relationships: [], packages: [{ ...system, externalRefs }] });
    expect(first(document)?.purl.written).toBe("pkg:npm/x@1.0.0");
  });

  test("with the first of several package URLs that advisories can be about, in JSON, tag-value and SPDX 3", () => {
    const json = read({ ...spdxJson("2.3"), relationships: [], packages: [{ ...system, externalRefs: purls.map(refOf) }] });
    const lines = purls.map((purl) => `ExternalRef: PACKAGE-MANAGER purl ${purl}\n`).join("");
    const text = read(`${spdxTagValue("2.3")}\nPackageName: x\nSPDXID: SPDXRef-x\nPackageDownloadLocation: NONE\n${lines}`);
    const graph = spdx3Json();
    const [software_packageUrl, ...others] = purls;
    const externalIdentifier = others.map((identifier) => ({ externalIdentifierType: "packageUrl", identifier }));
    const element = {
      spdxId: "urn:x",
      type: "software_Package",
      creationInfo: "",
      name: "x",
      software_packageUrl,
      externalIdentifier,
    };
    const three = read({ ...graph, "@graph": [...graph["@graph"], element] });
    for (const document of [json, text, three]) {
      expect(document.components.map(({ purl }) => purl.written)).toContain("pkg:npm/x@1.0.0");
      expect(document.warnings).toEqual([expect.stringContaining(chosen)]);
    }
  });

  test("with a package URL that cannot be read where no other is of a known ecosystem, and the reason is told", () => {
    const document = read({
      ...spdxJson("2.3"),
      relationships: [],
      packages: [{ ...system, externalRefs: ["pkg:generic/x@1", "pkg:npm/%zz"].map(refOf) }],
    });
    expect(first(document)?.purl).toMatchObject({ written: "pkg:npm/%zz", parsed: null });
    expect(document.warnings[1]).toBe(
      'component "SPDXRef-os": has a package URL that cannot be read, so no advisory is compared with it: The name of the package URL has a broken percent-encoding: "%zz"',
    );
  });
});

test("a document has a bounded number of warnings, each of a bounded length", () => {
  const components = Array.from({ length: 50 }, (_, index) => ({
    ...library,
    name: `x${index}`,
    type: `fi${"_".repeat(index)}le`,
  }));
  const { warnings } = read({ ...bomJson("1.6"), dependencies: [], components });
  expect(warnings).toHaveLength(21);
  expect(warnings.at(-1)).toBe("document: has 29 more warnings of other kinds");
});
