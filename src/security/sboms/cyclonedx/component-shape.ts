/** Components and services of CycloneDX 1.2 to 1.7, which may be nested; source: the JSON schemas of these versions. */
import type { JsonObject } from "../json/value.ts";
import {
  always,
  type Field,
  field,
  flag,
  list,
  type ObjectShape,
  object,
  oneOf,
  opaque,
  type RuleBreak,
  text,
} from "../shape/shape.ts";
import { attribute, content, hashes, licenses, patches, properties, reference, swid } from "./small-shapes.ts";

const types = new Map([
  ...["application", "framework", "library", "container", "operating-system", "device", "firmware", "file"].map(
    (name) => [name, 2] as const,
  ),
  ...["platform", "device-driver", "machine-learning-model", "data"].map((name) => [name, 5] as const),
  ["cryptographic-asset", 6],
]);

const version = text({ charactersMax: 1_024 });

/** Known fields that are neither read nor validated, each with the version that introduced it. */
function unread(fields: Record<string, number>): Record<string, Field> {
  return Object.fromEntries(Object.entries(fields).map(([name, since]) => [name, field(opaque, { since })]));
}

const pedigree = object(
  {
    ancestors: field(list(() => component, { items: "component" })),
    descendants: field(list(() => component, { items: "component" })),
    variants: field(list(() => component, { items: "component" })),
    patches: field(patches),
    ...unread({ commits: 2, notes: 2 }),
  },
  { closedFrom: 4 },
);

export const component: ObjectShape = object(
  {
    type: field(text({ oneOf: types }), { required: always, xml: attribute() }),
    "mime-type": field(text(), { xml: attribute() }),
    "bom-ref": field(reference, { xml: attribute() }),
    group: field(text()),
    name: field(text(), { required: always }),
    version: field(version, { required: [2, 3] }),
    versionRange: field(text({ charactersMin: 1, charactersMax: 4_096 }), { since: 7 }),
    isExternal: field(flag, { since: 7, xml: attribute() }),
    scope: field(oneOf("required", "optional", "excluded")),
    hashes: field(hashes),
    licenses: field(licenses),
    purl: field(text()),
    swid: field(swid),
    pedigree: field(pedigree),
    components: field(list(() => component, { items: "component" })),
    properties: field(properties, { since: 3 }),
    ...unread({ supplier: 2, author: 2, publisher: 2, description: 2, copyright: 2, cpe: 2, modified: 2, externalReferences: 2 }),
    ...unread({ evidence: 3, releaseNotes: 4, signature: 4, modelCard: 5, data: 5, manufacturer: 6, authors: 6, omniborId: 6 }),
    ...unread({ swhid: 6, cryptoProperties: 6, tags: 6, patentAssertions: 7 }),
  },
  { closedFrom: 4, identity: () => "bom-ref", rule: componentRule },
);

/** @throws nothing; 1.7 allows a version range only for external components, and only in place of a version */
function componentRule(value: JsonObject, version: number): RuleBreak | null {
  if (value["bom-ref"] === "" && version >= 5) return { key: "bom-ref", says: "must not be empty" };
  if (version < 7 || !Object.hasOwn(value, "versionRange")) return null;
  if (Object.hasOwn(value, "version")) return { key: "versionRange", says: "must not stand beside `version`" };
  return value["isExternal"] === true ? null : { key: "versionRange", says: "is for components with `isExternal` alone" };
}

const serviceData = object({
  flow: field(oneOf("inbound", "outbound", "bi-directional", "unknown"), { required: always, xml: attribute() }),
  classification: field(text(), { required: always, xml: content }),
});

export const service: ObjectShape = object(
  {
    "bom-ref": field(reference, { xml: attribute() }),
    group: field(text()),
    name: field(text(), { required: always }),
    version: field(version),
    data: field(list(() => serviceData, { items: "classification", passes: "dataflow" })),
    licenses: field(licenses),
    services: field(list(() => service, { items: "service" })),
    properties: field(properties, { since: 3 }),
    authenticated: field(flag),
    "x-trust-boundary": field(flag),
    ...unread({ provider: 2, description: 2, endpoints: 2, externalReferences: 2, releaseNotes: 4, signature: 4 }),
    ...unread({ trustZone: 5, tags: 6, patentAssertions: 7 }),
  },
  { closedFrom: 4, identity: () => "bom-ref" },
);
