/** Converts a validated SPDX 3.0 document to the parsed form. */
import type { ParsedSbom, ParsedComponent } from "../parsed-sbom.ts";
import { fieldOf, isObject, type JsonObject, type JsonValue, listOf, objectsOf, textOf } from "../json/value.ts";
import { resolveRelationships } from "./resolve-relationships.ts";
import type { Relationship } from "./relationships.ts";
import { idOf, packageTypes, relationshipClasses, typeOf } from "./shape-3.ts";

export function extractSpdx3(document: JsonObject): ParsedSbom {
  const elements = objectsOf(document, "@graph");
  const byId = new Map(
    elements.flatMap((element): [string, JsonObject][] => [idOf(element)].flatMap((id) => (id === null ? [] : [[id, element]]))),
  );
  const head = elements.find((element) => typeOf(element) === "SpdxDocument") ?? null;
  const creation = resolved(head === null ? undefined : fieldOf(head, "creationInfo"), byId) ?? {};
  const relationships = elements.filter((element) => relationshipClasses.has(typeOf(element))).flatMap(relationshipsOf);
  const packages = elements.filter((element) => packageTypes.has(typeOf(element)));
  const licenses = licensesByPackage(relationships, byId);
  return resolveRelationships({
    format: "SPDX",
    specVersion: textOf(creation, "specVersion") ?? "3.0",
    encoding: "json-ld",
    documentId: head === null ? null : idOf(head),
    name: head === null ? null : textOf(head, "name"),
    created: textOf(creation, "created"),
    tools: listOf(creation, "createdUsing").flatMap((tool) => textOf(resolved(tool, byId) ?? {}, "name") ?? []),
    components: packages.map((written) => componentOf(written, licenses.get(idOf(written) ?? "") ?? [])),
    relationships,
    described: head === null ? [] : rootsOf(head, byId, relationships),
    otherRefs: new Set([...byId].filter(([, element]) => !packageTypes.has(typeOf(element))).map(([id]) => id)),
  });
}

/** A reference is the element's id, or the element itself. */
function referenceOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(referenceOf);
  const id = isObject(value) ? idOf(value) : null;
  return id === null ? [] : [id];
}

function resolved(value: JsonValue | undefined, byId: ReadonlyMap<string, JsonObject>): JsonObject | null {
  if (typeof value === "string") return byId.get(value) ?? null;
  return isObject(value) ? value : null;
}

function relationshipsOf(written: JsonObject): Relationship[] {
  const [from = ""] = referenceOf(fieldOf(written, "from"));
  const type = textOf(written, "relationshipType") ?? "";
  return referenceOf(fieldOf(written, "to")).map((to) => ({ from, type, to }));
}

/** The packages that a document describes, by its `rootElement` or by `describes`, through bills of materials. */
function rootsOf(head: JsonObject, byId: ReadonlyMap<string, JsonObject>, relationships: readonly Relationship[]): string[] {
  const described = Map.groupBy(
    relationships.filter(({ type }) => type === "describes"),
    ({ from }) => from,
  );
  const roots = new Set<string>();
  const seen = new Set<string>();
  const next = [head];
  for (let element = next.pop(); element !== undefined; element = next.pop()) {
    const id = idOf(element) ?? "";
    if (seen.has(id)) continue;
    seen.add(id);
    for (const reference of [...referenceOf(fieldOf(element, "rootElement")), ...(described.get(id) ?? []).map(({ to }) => to)]) {
      const found = byId.get(reference);
      if (found === undefined || packageTypes.has(typeOf(found))) roots.add(reference);
      else next.push(found);
    }
  }
  return [...roots];
}

/** The concluded license, else the declared one. */
function licensesByPackage(relationships: readonly Relationship[], byId: ReadonlyMap<string, JsonObject>): Map<string, string[]> {
  const licenses = new Map<string, string[]>();
  for (const kind of ["hasDeclaredLicense", "hasConcludedLicense"]) {
    for (const { from, type, to } of relationships) {
      const license = type === kind ? licenseText(to, byId) : null;
      if (license !== null) licenses.set(from, [license]);
    }
  }
  return licenses;
}

function licenseText(reference: string, byId: ReadonlyMap<string, JsonObject>): string | null {
  const element = byId.get(reference) ?? {};
  const written = textOf(element, "simplelicensing_licenseExpression") ?? textOf(element, "name");
  const last = reference.slice(reference.lastIndexOf("/") + 1);
  return written ?? (/^(?:NoAssertion|None)(?:License)?$/.test(last) ? null : last);
}

function componentOf(written: JsonObject, licenses: string[]): ParsedComponent {
  return {
    ref: idOf(written),
    type: textOf(written, "software_primaryPurpose")?.replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`) ?? null,
    group: null,
    name: textOf(written, "name") ?? "",
    version: textOf(written, "software_packageVersion"),
    versionRange: null,
    purl: textOf(written, "software_packageUrl") ?? purlAmongIdentifiers(written),
    licenses,
    hashes: listOf(written, "verifiedUsing").length,
    scope: null,
    external: false,
    parent: null,
  };
}

function purlAmongIdentifiers(written: JsonObject): string | null {
  const found = objectsOf(written, "externalIdentifier").find((one) => textOf(one, "externalIdentifierType") === "packageUrl");
  return found === undefined ? null : textOf(found, "identifier");
}
