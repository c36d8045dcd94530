/**
 * The rules of SPDX 3.0 (JSON-LD) for the fields that are read; source: the model's classes Element, Package and Relationship,
 * https://spdx.github.io/spdx-spec/v3.0.1/. The `type` identifies an element; types that are not read are accepted.
 */
import { versionCharactersMax } from "../../limits.ts";
import { fieldOf, isObject, type JsonObject, textOf } from "../json/value.ts";
import { field, list, type ObjectShape, object, opaque, type RuleBreak, text } from "../shape/shape.ts";

/** Package classes: a software package and its specializations. */
export const packageTypes: ReadonlySet<string> = new Set(["software_Package", "ai_AIPackage", "dataset_DatasetPackage"]);
export const relationshipClasses: ReadonlySet<string> = new Set(["Relationship", "LifecycleScopedRelationship"]);

/** The type as written, or its last part if it is an address. */
export function typeOf(element: JsonObject): string {
  return textOf(element, "type") ?? textOf(element, "@type") ?? "";
}

/** @returns `spdxId`, or `@id` if there is none */
export function idOf(element: JsonObject): string | null {
  return textOf(element, "spdxId") ?? textOf(element, "@id");
}

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
  { identity: (value) => (packageTypes.has(typeOf(value)) ? "spdxId" : null), rule: elementRule },
);

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

export const spdx3: ObjectShape = object({
  "@graph": field(
    list(() => element, { itemsMin: 1 }),
    { required: [0, 9] },
  ),
});
