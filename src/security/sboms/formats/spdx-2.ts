/**
 * SPDX 2.2 and 2.3: the rules for the fields that are read, and the conversion of a validated document to the parsed form. Source: the JSON
 * schemas of both versions. Tag-value documents are converted to the same value first.
 *
 * Only packages are components, not files and snippets. Fields outside the schemas are accepted: the schemas forbid them, but many tools
 * add some, and none changes the meaning of known fields.
 */
import { versionCharactersMax } from "../../limits.ts";
import { choosePurl, type SbomEncoding, type ParsedSbom, type ParsedComponent } from "../document.ts";
import { type JsonObject, listOf, objectOf, objectsOf, textOf, textsOf } from "../json.ts";
import { always, field, list, type ObjectShape, object, opaque, type RuleBreak, text } from "../shape.ts";
import { resolveRelationships, isNothing, type Relationship, relationshipTypes, severalPurlsSay } from "./spdx-relationships.ts";

export function extractSpdx2(document: JsonObject, encoding: SbomEncoding): ParsedSbom {
  const creation = objectOf(document, "creationInfo") ?? {};
  const documentRef = textOf(document, "SPDXID");
  const relationships = objectsOf(document, "relationships").map(relationshipOf);
  const described = relationships.flatMap(({ from, type, to }) => {
    if (type === "DESCRIBES" && from === documentRef) return [to];
    return type === "DESCRIBED_BY" && to === documentRef ? [from] : [];
  });
  const others = [...objectsOf(document, "files"), ...objectsOf(document, "snippets")].flatMap(
    (other) => textOf(other, "SPDXID") ?? [],
  );
  return resolveRelationships({
    format: "SPDX",
    specVersion: (textOf(document, "spdxVersion") ?? "").replace("SPDX-", ""),
    encoding,
    documentId: textOf(document, "documentNamespace"),
    name: textOf(document, "name"),
    created: textOf(creation, "created"),
    tools: textsOf(creation, "creators").flatMap(toolOf),
    components: objectsOf(document, "packages").map(componentOf),
    relationships,
    described: [...described, ...textsOf(document, "documentDescribes")],
    otherRefs: new Set([...others, ...(documentRef === null ? [] : [documentRef])]),
  });
}

const id = field(text({ charactersMin: 1 }), { required: always });
const required = field(text(), { required: always });
/** Required, but never read. */
const unread = field(text(), { required: always, waived: true });
/** Required up to 2.2. */
const until2 = field(text(), { required: [2, 2], waived: true });

/** 2.3 spells one with an underscore in JSON and with a hyphen in tag-value; Trivy writes the hyphen in both. */
const purposes =
  "APPLICATION FRAMEWORK LIBRARY CONTAINER OPERATING_SYSTEM DEVICE FIRMWARE SOURCE ARCHIVE FILE INSTALL OTHER".split(" ");
/** Purposes that SPDX 3 added. */
const laterPurposes = (
  "BOM CONFIGURATION DATA DEVICE_DRIVER DISK_IMAGE DOCUMENTATION EVIDENCE EXECUTABLE FILESYSTEM_IMAGE MANIFEST MODEL MODULE PATCH " +
  "PLATFORM REQUIREMENT SPECIFICATION TEST"
).split(" ");
const purposeVersions = new Map([
  ...purposes.map((name) => [name, 3] as const),
  ...laterPurposes.map((name) => [name, 30] as const),
]);

const externalRef = object({ referenceCategory: required, referenceLocator: required, referenceType: required });
const checksum = object({ algorithm: required, checksumValue: required });

const packageShape = object(
  {
    SPDXID: id,
    name: required,
    versionInfo: field(text({ charactersMax: versionCharactersMax })),
    downloadLocation: unread,
    licenseConcluded: until2,
    licenseDeclared: until2,
    copyrightText: field(text({ charactersMax: Number.POSITIVE_INFINITY }), { required: [2, 2], waived: true }),
    primaryPackagePurpose: field(text({ oneOf: purposeVersions }), { since: 3 }),
    externalRefs: field(list(() => externalRef)),
    checksums: field(list(() => checksum)),
  },
  { identity: () => "SPDXID", note: severalPurls },
);

const element = object({ SPDXID: id }, { identity: () => "SPDXID" });

/** As Trivy wrote it in 2022. */
const describe = { reads: "DESCRIBES", says: 'is spelled "DESCRIBE", and read as DESCRIBES' };

const relationship = object({
  spdxElementId: id,
  relatedSpdxElement: id,
  relationshipType: field(
    text({ oneOf: relationshipTypes, tolerates: (written) => (written === "DESCRIBE" ? describe : null) }),
    { required: always },
  ),
});

export const spdx2: ObjectShape = object(
  {
    spdxVersion: required,
    SPDXID: id,
    name: required,
    dataLicense: unread,
    documentNamespace: field(text()),
    creationInfo: field(
      object({
        created: required,
        creators: field(
          list(() => text(), { itemsMin: 1 }),
          { required: [3, 3] },
        ),
        comment: field(opaque),
      }),
      { required: always },
    ),
    documentDescribes: field(list(() => text())),
    packages: field(list(() => packageShape)),
    files: field(list(() => element)),
    snippets: field(list(() => element)),
    relationships: field(list(() => relationship)),
  },
  { identity: () => "SPDXID" },
);

function relationshipOf(written: JsonObject): Relationship {
  const [from, type, to] = ["spdxElementId", "relationshipType", "relatedSpdxElement"].map((key) => textOf(written, key) ?? "");
  return { from: from ?? "", type: type ?? "", to: to ?? "" };
}

/** `Tool: name`; other creators are people and organizations. */
function toolOf(creator: string): string[] {
  const name = creator.startsWith("Tool:") ? creator.slice("Tool:".length).trim() : "";
  return name === "" ? [] : [name];
}

function componentOf(written: JsonObject): ParsedComponent {
  return {
    ref: textOf(written, "SPDXID"),
    type: textOf(written, "primaryPackagePurpose")?.toLowerCase().replaceAll("_", "-") ?? null,
    group: null,
    name: textOf(written, "name") ?? "",
    version: textOf(written, "versionInfo"),
    versionRange: null,
    purl: choosePurl(purlsOf(written)),
    licenses: licensesOf(written),
    hashes: listOf(written, "checksums").length,
    scope: null,
    external: false,
    parent: null,
  };
}

function purlsOf(written: JsonObject): string[] {
  const references = objectsOf(written, "externalRefs").filter((reference) =>
    /^purl$/i.test(textOf(reference, "referenceType") ?? ""),
  );
  return references.flatMap((reference) => textOf(reference, "referenceLocator") ?? []);
}

function severalPurls(written: JsonObject): RuleBreak | null {
  return new Set(purlsOf(written)).size > 1 ? { key: "externalRefs", says: severalPurlsSay } : null;
}

/** The concluded license, else the declared one. */
function licensesOf(written: JsonObject): string[] {
  const license = ["licenseConcluded", "licenseDeclared"]
    .map((key) => textOf(written, key))
    .find((text) => !isNothing(text ?? null));
  return license === undefined || license === null ? [] : [license];
}
