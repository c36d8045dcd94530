/**
 * Converts a validated SPDX 2.2 or 2.3 document to the parsed form. Its packages are the components; files and snippets are
 * not.
 */
import type { SbomEncoding } from "../document.ts";
import type { ParsedSbom, ParsedComponent } from "../parsed-sbom.ts";
import { type JsonObject, listOf, objectOf, objectsOf, textOf, textsOf } from "../json/value.ts";
import { resolveRelationships } from "./resolve-relationships.ts";
import { isNothing, type Relationship } from "./relationships.ts";

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

/** `Tool: name`; other creators are people and organizations. */
function toolOf(creator: string): string[] {
  const name = creator.startsWith("Tool:") ? creator.slice("Tool:".length).trim() : "";
  return name === "" ? [] : [name];
}

function relationshipOf(written: JsonObject): Relationship {
  const [from, type, to] = ["spdxElementId", "relationshipType", "relatedSpdxElement"].map((key) => textOf(written, key) ?? "");
  return { from: from ?? "", type: type ?? "", to: to ?? "" };
}

function componentOf(written: JsonObject): ParsedComponent {
  return {
    ref: textOf(written, "SPDXID"),
    type: textOf(written, "primaryPackagePurpose")?.toLowerCase().replaceAll("_", "-") ?? null,
    group: null,
    name: textOf(written, "name") ?? "",
    version: textOf(written, "versionInfo"),
    versionRange: null,
    purl: purlOf(written),
    licenses: licensesOf(written),
    hashes: listOf(written, "checksums").length,
    scope: null,
    external: false,
    parent: null,
  };
}

/** The first of them; a package rarely has more. */
function purlOf(written: JsonObject): string | null {
  const found = objectsOf(written, "externalRefs").find((reference) => textOf(reference, "referenceType") === "purl");
  return found === undefined ? null : textOf(found, "referenceLocator");
}

/** The concluded license, else the declared one. */
function licensesOf(written: JsonObject): string[] {
  const license = ["licenseConcluded", "licenseDeclared"]
    .map((key) => textOf(written, key))
    .find((text) => !isNothing(text ?? null));
  return license === undefined || license === null ? [] : [license];
}
