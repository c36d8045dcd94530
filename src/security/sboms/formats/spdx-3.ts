/**
 * SPDX 3.0 (JSON-LD): the rules for the fields that are read, and the conversion of a validated document to the parsed form. Source: the
 * model's classes Element, Package and Relationship, https://spdx.github.io/spdx-spec/v3.0.1/. The `type` identifies an element; types that
 * are not read are accepted. The version comes from `@context`, since SPDX 3 has no `spdxVersion`.
 */
import { versionCharactersMax } from "../../limits.ts";
import { fieldOf, isObject, type JsonObject, type JsonValue, listOf, objectsOf, textOf } from "../json.ts";
import { choosePurl, type ParsedSbom, type ParsedComponent, unsupportedVersion } from "../document.ts";
import { field, list, type ObjectShape, object, opaque, type RuleBreak, text } from "../shape.ts";
import { resolveRelationships, severalPurlsSay, type Relationship } from "./spdx-relationships.ts";

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

/** Package classes: a software package and its specializations. */
const packageTypes: ReadonlySet<string> = new Set(["software_Package", "ai_AIPackage", "dataset_DatasetPackage"]);
const relationshipClasses: ReadonlySet<string> = new Set(["Relationship", "LifecycleScopedRelationship"]);

const element = object(
  {
    spdxId: field(text({ charactersMin: 1 })),
    type: field(text()),
    name: field(text()),
    software_packageVersion: field(text({ charactersMax: versionCharactersMax })),
    software_packageUrl: field(text()),
    software_primaryPurpose: field(text()),
    externalIdentifier: field(list(() => object({ externalIdentifierType: field(text()), identifier: field(text()) }))),
    verifiedUsing: field(list(() => opaque)),
    from: field(opaque),
    to: field(opaque),
    relationshipType: field(text()),
    rootElement: field(list(() => opaque)),
    created: field(text()),
  },
  { identity: (value) => (packageTypes.has(typeOf(value)) ? "spdxId" : null), rule: elementRule, note: severalPurls },
);

export const spdx3: ObjectShape = object({
  "@graph": field(
    list(() => element, { itemsMin: 1 }),
    { required: [0, 9] },
  ),
});

const home = /^https?:\/\/spdx\.(?:org|github\.io)\//;
/** The repetition is bounded: otherwise the expression would try every start in a long run of digits. */
const written = /(\d{1,4})\.(\d{1,4})/;
const contextCharactersMax = 2_048;

/**
 * @returns the document with its elements in `@graph`, which a single-element document omits; null if it is not SPDX 3
 * @throws SbomRefusal unsupported_version
 */
export function graphOf(document: JsonObject): JsonObject | null {
  const version = contextsOf(fieldOf(document, "@context"))
    .map((address) => (home.test(address) && address.length <= contextCharactersMax ? written.exec(address) : null))
    .find((found) => found !== null);
  if (version === undefined || version === null) return null;
  const [, major = "", minor = ""] = version;
  if (major !== "3" || minor !== "0")
    throw unsupportedVersion("SPDX", { written: `${major}.${minor}`, read: "2.2, 2.3 and 3.0" });
  if (Object.hasOwn(document, "@graph")) return document;
  const { "@context": _, ...element } = document;
  return { "@graph": [element] };
}

/** @returns `spdxId`, or `@id` if there is none */
function idOf(element: JsonObject): string | null {
  return textOf(element, "spdxId") ?? textOf(element, "@id");
}

/** `type`, or `@type` if there is none. */
function typeOf(element: JsonObject): string {
  return textOf(element, "type") ?? textOf(element, "@type") ?? "";
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

/** A reference is the element's id, or the element itself. */
function referenceOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(referenceOf);
  const id = isObject(value) ? idOf(value) : null;
  return id === null ? [] : [id];
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
    purl: choosePurl(purlsOf(written)),
    licenses,
    hashes: listOf(written, "verifiedUsing").length,
    scope: null,
    external: false,
    parent: null,
  };
}

function purlsOf(written: JsonObject): string[] {
  const identifiers = objectsOf(written, "externalIdentifier").filter(
    (one) => textOf(one, "externalIdentifierType") === "packageUrl",
  );
  return [textOf(written, "software_packageUrl"), ...identifiers.map((one) => textOf(one, "identifier"))].flatMap(
    (purl) => purl ?? [],
  );
}

function severalPurls(written: JsonObject): RuleBreak | null {
  const several = packageTypes.has(typeOf(written)) && new Set(purlsOf(written)).size > 1;
  return several ? { key: "externalIdentifier", says: severalPurlsSay } : null;
}

/** The packages that a document describes, by its `rootElement` or by `describes`, including through bills of materials. */
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

function elementRule(value: JsonObject): RuleBreak | null {
  const type = typeOf(value);
  if (type === "") return { key: "type", says: "is required" };
  const required = packageTypes.has(type)
    ? ["spdxId", "creationInfo", "name"]
    : relationshipClasses.has(type)
      ? ["from", "relationshipType", "to"]
      : type === "SpdxDocument"
        ? ["spdxId", "creationInfo"]
        : [];
  const missing = required.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) return { key: missing, says: `is required of a ${type}` };
  return relationshipClasses.has(type) && !isReference(value)
    ? { key: "from", says: "must be the `spdxId` of an element" }
    : null;
}

function isReference(relationship: JsonObject): boolean {
  const from = fieldOf(relationship, "from");
  return typeof from === "string" || (isObject(from) && idOf(from) !== null);
}

function contextsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
