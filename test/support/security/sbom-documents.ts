/** One small product (an app that needs `left`, which needs `right`, which holds `inner`) in every format that is read. */
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import type { SbomDocument } from "../../../src/security/sboms/document.ts";
import { SbomRefusal } from "../../../src/security/sboms/refusal.ts";

export const cyclonedxVersions = ["1.2", "1.3", "1.4", "1.5", "1.6", "1.7"];
const serialNumber = "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79";
const sha1 = "e6b1000b94e835ffd37f4c6dcbdad43f4b48a02a";

export function bomJson(specVersion: string) {
  return {
    bomFormat: "CycloneDX",
    specVersion,
    serialNumber,
    version: 1,
    metadata: {
      timestamp: "2026-01-31T12:00:00Z",
      tools: [{ vendor: "acme", name: "maker", version: "2.0" }],
      component: { type: "application", "bom-ref": "app", name: "app", version: "1.0.0" },
    },
    components: [
      {
        type: "library",
        "bom-ref": "left",
        group: "@scope",
        name: "left",
        version: "1.2.3",
        scope: "required",
        hashes: [{ alg: "SHA-1", content: sha1 }],
        licenses: [{ license: { id: "MIT" } }],
        purl: "pkg:npm/%40scope/left@1.2.3",
      },
      {
        type: "library",
        "bom-ref": "right",
        name: "right",
        version: "2.0.0",
        licenses: [{ expression: "MIT OR Apache-2.0" }],
        purl: "pkg:npm/right@2.0.0",
        components: [
          { type: "file", "bom-ref": "inner", name: "inner <&> é", version: "0", licenses: [{ license: { name: "Own" } }] },
        ],
      },
    ],
    dependencies: [
      { ref: "app", dependsOn: ["left"] },
      { ref: "left", dependsOn: ["right"] },
    ],
  };
}

export function bomXml(specVersion: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment before -->
<bom xmlns="http://cyclonedx.org/schema/bom/${specVersion}" serialNumber="${serialNumber}" version="1">
  <metadata>
    <timestamp>2026-01-31T12:00:00Z</timestamp>
    <tools><tool><vendor>acme</vendor><name>maker</name><version>2.0</version></tool></tools>
    <component type="application" bom-ref="app"><name>app</name><version>1.0.0</version></component>
  </metadata>
  <components>
    <component type="library" bom-ref="left">
      <group>@scope</group><name>left</name><version>1.2.3</version><scope>required</scope>
      <hashes><hash alg="SHA-1">${sha1}</hash></hashes>
      <licenses><license><id>MIT</id></license></licenses>
      <purl>pkg:npm/%40scope/left@1.2.3</purl>
    </component>
    <component type="library" bom-ref="right">
      <name>right</name><version>2.0.0</version>
      <licenses><expression>MIT OR Apache-2.0</expression></licenses>
      <purl>pkg:npm/right@2.0.0</purl>
      <components>
        <component type="file" bom-ref="inner"><name>inner &lt;<![CDATA[&>]]> &#233;</name><version>0</version>
          <licenses><license><name>Own</name></license></licenses>
        </component>
      </components>
    </component>
  </components>
  <dependencies>
    <dependency ref="app"><dependency ref="left"/></dependency>
    <dependency ref="left"><dependency ref="right"/></dependency>
  </dependencies>
</bom>`;
}

export function spdxJson(version: "2.2" | "2.3") {
  const licences = (id: string) => ({ licenseConcluded: id, licenseDeclared: id, copyrightText: "NOASSERTION" });
  return {
    spdxVersion: `SPDX-${version}`,
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: "app",
    documentNamespace: "https://example.com/app-1",
    creationInfo: { created: "2026-01-31T12:00:00Z", creators: ["Organization: Acme", "Tool: maker-2.0"] },
    packages: [
      { SPDXID: "SPDXRef-app", name: "app", versionInfo: "1.0.0", downloadLocation: "NOASSERTION", ...licences("NOASSERTION") },
      {
        SPDXID: "SPDXRef-left",
        name: "left",
        versionInfo: "1.2.3",
        downloadLocation: "NONE",
        ...licences("MIT"),
        checksums: [{ algorithm: "SHA1", checksumValue: sha1 }],
        externalRefs: [
          { referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: "pkg:npm/%40scope/left@1.2.3" },
        ],
      },
      {
        SPDXID: "SPDXRef-right",
        name: "right",
        versionInfo: "2.0.0",
        downloadLocation: "NOASSERTION",
        ...licences("MIT OR Apache-2.0"),
      },
    ],
    files: [{ SPDXID: "SPDXRef-file", fileName: "./a.js", checksums: [], copyrightText: "NONE", licenseConcluded: "NONE" }],
    relationships: [
      { spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: "SPDXRef-app" },
      { spdxElementId: "SPDXRef-app", relationshipType: "DEPENDS_ON", relatedSpdxElement: "SPDXRef-left" },
      { spdxElementId: "SPDXRef-right", relationshipType: "DEPENDENCY_OF", relatedSpdxElement: "SPDXRef-left" },
      { spdxElementId: "SPDXRef-right", relationshipType: "CONTAINS", relatedSpdxElement: "SPDXRef-file" },
      { spdxElementId: "SPDXRef-right", relationshipType: "DEPENDS_ON", relatedSpdxElement: "NONE" },
    ],
  };
}

export function spdxTagValue(version: "2.2" | "2.3"): string {
  return `# made by hand
SPDXVersion: SPDX-${version}
DataLicense: CC0-1.0
SPDXID: SPDXRef-DOCUMENT
DocumentName: app
DocumentNamespace: https://example.com/app-1
DocumentComment: <text>one
two: three</text>
Creator: Organization: Acme
Creator: Tool: maker-2.0
Created: 2026-01-31T12:00:00Z
Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-app

PackageName: app
SPDXID: SPDXRef-app
PackageVersion: 1.0.0
PackageDownloadLocation: NOASSERTION
PackageLicenseConcluded: NOASSERTION
PackageLicenseDeclared: NOASSERTION
PackageCopyrightText: NOASSERTION
Relationship: SPDXRef-app DEPENDS_ON SPDXRef-left

PackageName: left
SPDXID: SPDXRef-left
PackageVersion: 1.2.3
PackageDownloadLocation: NONE
PackageLicenseConcluded: MIT
PackageLicenseDeclared: MIT
PackageCopyrightText: <text>NOASSERTION</text>
PackageChecksum: SHA1: ${sha1}
ExternalRef: PACKAGE-MANAGER purl pkg:npm/%40scope/left@1.2.3

PackageName: right
SPDXID: SPDXRef-right
PackageVersion: 2.0.0
PackageDownloadLocation: NOASSERTION
PackageLicenseConcluded: MIT OR Apache-2.0
PackageLicenseDeclared: MIT OR Apache-2.0
PackageCopyrightText: NOASSERTION
Relationship: SPDXRef-right DEPENDENCY_OF SPDXRef-left

FileName: ./a.js
SPDXID: SPDXRef-file
FileChecksum: SHA1: ${sha1}
Relationship: SPDXRef-right CONTAINS SPDXRef-file
Relationship: SPDXRef-right DEPENDS_ON NONE
`;
}

export function spdx3Json() {
  const creationInfo = "_:creation";
  const software = (name: string, more: object) => ({
    type: "software_Package",
    spdxId: `urn:${name}`,
    creationInfo,
    name,
    ...more,
  });
  const relation = (from: string, relationshipType: string, to: string[]) => ({
    type: "Relationship",
    spdxId: `urn:${from}-${relationshipType}`,
    creationInfo,
    from: `urn:${from}`,
    relationshipType,
    to: to.map((name) => `urn:${name}`),
  });
  return {
    "@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld",
    "@graph": [
      {
        type: "CreationInfo",
        "@id": creationInfo,
        specVersion: "3.0.1",
        created: "2026-01-31T12:00:00Z",
        createdUsing: ["urn:tool"],
      },
      { type: "Tool", spdxId: "urn:tool", creationInfo, name: "maker-2.0" },
      { type: "SpdxDocument", spdxId: "urn:document", creationInfo, name: "app", rootElement: ["urn:sbom"] },
      { type: "software_Sbom", spdxId: "urn:sbom", creationInfo, rootElement: ["urn:app"] },
      software("app", { software_packageVersion: "1.0.0", software_primaryPurpose: "application" }),
      software("left", {
        software_packageVersion: "1.2.3",
        software_packageUrl: "pkg:npm/%40scope/left@1.2.3",
        verifiedUsing: [{ type: "Hash", algorithm: "sha1", hashValue: sha1 }],
      }),
      software("right", {
        software_packageVersion: "2.0.0",
        software_primaryPurpose: "operatingSystem",
        externalIdentifier: [
          { type: "ExternalIdentifier", externalIdentifierType: "packageUrl", identifier: "pkg:npm/right@2.0.0" },
        ],
      }),
      { type: "simplelicensing_LicenseExpression", spdxId: "urn:mit", creationInfo, simplelicensing_licenseExpression: "MIT" },
      relation("app", "dependsOn", ["left"]),
      { ...relation("left", "dependsOn", ["right"]), type: "LifecycleScopedRelationship", scope: "runtime" },
      relation("left", "hasDeclaredLicense", ["mit"]),
    ],
  };
}

export function bytesOf(document: unknown): Uint8Array {
  return new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document));
}

export const read = (document: unknown): SbomDocument => readSbom(bytesOf(document));

/** What a document says, without how it was written. */
export function contentOf({ encoding: _, sha256: __, ...content }: SbomDocument) {
  return content;
}

/** @returns the refusal; fails where the document is read, or where anything else is thrown */
export function refusalOf(document: unknown): SbomRefusal {
  try {
    readSbom(document instanceof Uint8Array ? document : bytesOf(document));
  } catch (error) {
    if (error instanceof SbomRefusal) return error;
    throw error;
  }
  throw new Error("the document was read");
}

/** This many components of npm, each of which needs the next. */
export function largeBom(count: number) {
  const components = Array.from({ length: count }, (_, index) => ({
    type: "library",
    "bom-ref": `part-${index}`,
    name: `part\u2028${index}`,
    version: `${index}.0.0`,
    purl: `pkg:npm/part-${index}@${index}.0.0`,
    licenses: [{ license: { name: 'with "quotes", \\ and é' } }],
  }));
  const dependencies = components.slice(1).map(({ "bom-ref": ref }, index) => ({ ref: `part-${index}`, dependsOn: [ref] }));
  return { ...bomJson("1.6"), components, dependencies };
}
