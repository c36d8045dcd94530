/**
 * The rules of CycloneDX 1.2 to 1.7 for the fields that are read: required fields, types, unique refs, enumerations, and fields
 * that a version does not have (from 1.4 on, like its schemas). They replace the official schemas because one description then
 * validates JSON and XML alike and names the location in either; a recursive anyOf of a whole schema names neither the field
 * nor the remedy.
 */
import type { JsonObject } from "../json/value.ts";
import { always, field, list, type ObjectShape, object, oneOf, opaque, type RuleBreak, text } from "../shape/shape.ts";
import { component, service } from "./component-shape.ts";
import { attribute, citations, hashes, licenses, properties, reference, timestamp } from "./small-shapes.ts";

const tool = object(
  {
    vendor: field(text()),
    name: field(text()),
    version: field(text()),
    hashes: field(hashes),
    externalReferences: field(opaque, { since: 4 }),
  },
  { closedFrom: 4 },
);

const toolComponents = object(
  {
    components: field(
      list(() => component, { items: "component" }),
      { since: 5 },
    ),
    services: field(
      list(() => service, { items: "service" }),
      { since: 5 },
    ),
  },
  { closedFrom: 2 },
);

const metadata = object(
  {
    timestamp: field(timestamp),
    tools: field({ kind: "either", list: list(() => tool, { items: "tool" }), object: toolComponents }),
    component: field(component),
    licenses: field(licenses, { since: 3 }),
    properties: field(properties, { since: 3 }),
    authors: field(opaque),
    manufacture: field(opaque),
    supplier: field(opaque),
    lifecycles: field(opaque, { since: 5 }),
    manufacturer: field(opaque, { since: 6 }),
    distributionConstraints: field(opaque, { since: 7 }),
  },
  { closedFrom: 4 },
);

const dependency = object(
  {
    ref: field(reference, { required: always, xml: attribute() }),
    dependsOn: field(list(() => reference, { flat: "dependency", itemAttribute: "ref" })),
    provides: field(
      list(() => reference, { flat: "provides", itemAttribute: "ref" }),
      { since: 6 },
    ),
  },
  { closedFrom: 4, rule: dependencyRule },
);

function dependencyRule(value: JsonObject, version: number): RuleBreak | null {
  return version >= 5 && value["ref"] === "" ? { key: "ref", says: "must not be empty" } : null;
}

export const bom: ObjectShape = object(
  {
    $schema: field(opaque),
    bomFormat: field(oneOf("CycloneDX"), { required: always }),
    specVersion: field(text(), { required: always }),
    serialNumber: field(
      text({
        pattern: /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
        says: "urn:uuid: and a UUID in lower case",
      }),
      { xml: attribute() },
    ),
    version: field({ kind: "integer" }, { required: [2, 4], xml: attribute() }),
    metadata: field(metadata),
    components: field(list(() => component, { items: "component" })),
    services: field(list(() => service, { items: "service" })),
    dependencies: field(list(() => dependency, { items: "dependency" })),
    externalReferences: field(opaque),
    compositions: field(opaque, { since: 3 }),
    vulnerabilities: field(opaque, { since: 4 }),
    signature: field(opaque, { since: 4 }),
    annotations: field(opaque, { since: 5 }),
    formulation: field(opaque, { since: 5 }),
    properties: field(properties, { since: 5 }),
    declarations: field(opaque, { since: 6 }),
    definitions: field(opaque, { since: 6 }),
    citations: field(citations, { since: 7 }),
  },
  { closedFrom: 4 },
);
