/**
 * The rules of CycloneDX 1.2 to 1.7 for the fields that are read; source: the JSON schemas of these versions. Each rule has the versions in
 * which it applies: required fields, types, unique refs, enumerations, and from 1.4 on the refusal of unknown fields, as in the schemas.
 *
 * They replace the official schemas because one description then validates JSON and XML alike and names the location in both; a recursive
 * anyOf of a whole schema names neither the field nor the remedy. Parts precede the parts that use them. License ids come from a package
 * that follows SPDX's lists, since the schemas list them all and grow with them.
 */
import deprecated from "spdx-license-ids/deprecated.json" with { type: "json" };
import current from "spdx-license-ids/index.json" with { type: "json" };
import { isObject, type JsonObject } from "../json.ts";
import {
  always,
  field,
  list,
  object,
  oneOf,
  opaque,
  text,
  type Field,
  flag,
  type ObjectShape,
  type RuleBreak,
  type Tolerated,
} from "../shape.ts";

const attribute = (name?: string) => ({ as: "attribute", ...(name === undefined ? {} : { name }) }) as const;
const content = { as: "content" } as const;

/** Refs must not be empty since 1.5. */
const reference = text();
const timestamp = text({
  pattern: /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/,
  says: "a date and time such as 2026-01-31T12:00:00Z",
  tolerates: otherTime,
});

/** The time is never computed with. XML allows one without a zone (xs:dateTime), which Python's `isoformat` writes in JSON too. */
function otherTime(written: string): Tolerated | null {
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?$/.test(written))
    return { reads: written, says: "is a time without a zone", inXml: true };
  if (!/^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}[^\0]{0,60}$/.test(written)) return null;
  return { reads: written, says: "is a time in a form that the format does not allow" };
}

const algorithms =
  "MD5 SHA-1 SHA-256 SHA-384 SHA-512 SHA3-256 SHA3-384 SHA3-512 BLAKE2b-256 BLAKE2b-384 BLAKE2b-512 BLAKE3".split(" ");

const hash = object(
  {
    alg: field(
      text({ oneOf: new Map([...algorithms.map((name) => [name, 2] as const), ["Streebog-256", 7], ["Streebog-512", 7]]) }),
      {
        required: always,
        xml: attribute(),
      },
    ),
    content: field(
      text({
        pattern: /^(?:[a-fA-F0-9]{32}|[a-fA-F0-9]{40}|[a-fA-F0-9]{64}|[a-fA-F0-9]{96}|[a-fA-F0-9]{128})$/,
        says: "32, 40, 64, 96 or 128 hexadecimal digits",
      }),
      { required: always, xml: content },
    ),
  },
  { closedFrom: 4 },
);

const hashes = list(() => hash, { items: "hash" });

const attachment = object(
  {
    contentType: field(text(), { xml: attribute("content-type") }),
    encoding: field(oneOf("base64"), { xml: attribute() }),
    content: field(text({ charactersMax: Number.POSITIVE_INFINITY }), { required: always, xml: content }),
  },
  { closedFrom: 4 },
);

const property = object(
  { name: field(text(), { required: [6, 7], xml: attribute() }), value: field(text(), { xml: content }) },
  { closedFrom: 6 },
);

const properties = list(() => property, { items: "property" });

const license = object(
  {
    "bom-ref": field(reference, { since: 5, xml: attribute() }),
    id: field(
      text({
        allows: isSpdxLicenseId,
        says: "an id of SPDX's license list (any other license goes into `name`)",
        tolerates: otherLicenseId,
      }),
    ),
    name: field(text()),
    acknowledgement: field(oneOf("declared", "concluded"), { since: 6, xml: attribute() }),
    text: field(attachment),
    url: field(text()),
    licensing: field(opaque, { since: 5 }),
    properties: field(properties, { since: 5 }),
  },
  {
    closedFrom: 4,
    rule: (value) =>
      Object.hasOwn(value, "id") === Object.hasOwn(value, "name") ? { says: "must have either `id` or `name`" } : null,
  },
);

const licenseChoice = object(
  {
    license: field(license),
    expression: field(text()),
    "bom-ref": field(reference, { since: 5 }),
    acknowledgement: field(oneOf("declared", "concluded"), { since: 6 }),
    expressionDetails: field(opaque, { since: 7 }),
    licensing: field(opaque, { since: 7 }),
    properties: field(properties, { since: 7 }),
  },
  {
    closedFrom: 4,
    rule: (value) =>
      Object.hasOwn(value, "license") === Object.hasOwn(value, "expression")
        ? { says: "must have either `license` or `expression`" }
        : null,
  },
);

/** Versions 1.5 and 1.6 allow a list of licenses or one expression; other versions allow any mixture. */
const licenses = list(() => licenseChoice, {
  choice: {
    license: { field: "license" },
    expression: { field: "expression" },
    "expression-detailed": { field: "expression", attribute: "expression" },
  },
  rule: (items, version) =>
    (version === 5 || version === 6) &&
    items.length > 1 &&
    items.some((item) => isObject(item) && Object.hasOwn(item, "expression"))
      ? "must hold one expression alone, or licenses alone"
      : null,
});

const swid = object(
  {
    tagId: field(text(), { required: always, xml: attribute() }),
    name: field(text(), { required: always, xml: attribute() }),
    version: field(text(), { xml: attribute() }),
    tagVersion: field(opaque, { xml: attribute() }),
    patch: field(opaque, { xml: attribute() }),
    text: field(attachment),
    url: field(text()),
  },
  { closedFrom: 4 },
);

const issue = object({ type: field(oneOf("defect", "enhancement", "security"), { required: always, xml: attribute() }) });

const patch = object({
  type: field(oneOf("unofficial", "monkey", "backport", "cherry-pick"), { required: always, xml: attribute() }),
  diff: field(object({ text: field(attachment), url: field(text()) }, { closedFrom: 4 })),
  resolves: field(list(() => issue, { items: "issue" })),
});

const patches = list(() => patch, { items: "patch" });

/** Who made which statement about the document (1.7). */
const citation = object(
  { timestamp: field(timestamp, { required: always }) },
  {
    rule: (value) => {
      const has = (key: string) => Object.hasOwn(value, key);
      if (!has("attributedTo") && !has("process")) return { says: "must have `attributedTo` or `process`" };
      return has("pointers") === has("expressions") ? { says: "must have either `pointers` or `expressions`" } : null;
    },
  },
);

const citations = list(() => citation, { items: "citation" });

const types = new Map([
  ...["application", "framework", "library", "container", "operating-system", "device", "firmware", "file"].map(
    (name) => [name, 2] as const,
  ),
  ...["platform", "device-driver", "machine-learning-model", "data"].map((name) => [name, 5] as const),
  ["cryptographic-asset", 6],
]);

/** CycloneDX's own command line writes `Null` where the document that it converts has no type. */
function noType(written: string): Tolerated | null {
  return /^(?:null|)$/i.test(written)
    ? { reads: null, says: `is ${written === "" ? "empty" : written}, and counts as absent` }
    : null;
}

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

const component: ObjectShape = object(
  {
    type: field(text({ oneOf: types, tolerates: noType }), { required: always, xml: attribute() }),
    "mime-type": field(text(), { xml: attribute() }),
    "bom-ref": field(reference, { xml: attribute() }),
    group: field(text()),
    name: field(text(), { required: always }),
    version: field(version, { required: [2, 3], waived: true }),
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

/** 1.7 allows a version range only for external components, and only in place of a version. */
function componentRule(value: JsonObject, version: number): RuleBreak | null {
  if (value["bom-ref"] === "" && version >= 5) return { key: "bom-ref", says: "must not be empty" };
  if (version < 7 || !Object.hasOwn(value, "versionRange")) return null;
  if (Object.hasOwn(value, "version")) return { key: "versionRange", says: "must not be used with `version`" };
  return value["isExternal"] === true ? null : { key: "versionRange", says: "is for components with `isExternal` only" };
}

const serviceData = object({
  flow: field(oneOf("inbound", "outbound", "bi-directional", "unknown"), { required: always, xml: attribute() }),
  classification: field(text(), { required: always, xml: content }),
});

const service: ObjectShape = object(
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

/** The whole document. */
export const bom: ObjectShape = object(
  {
    $schema: field(opaque),
    bomFormat: field(oneOf("CycloneDX"), { required: always }),
    specVersion: field(text(), { required: always }),
    serialNumber: field(
      text({
        pattern: /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
        says: "urn:uuid: and a UUID in lower case",
        tolerates: otherSerialNumber,
      }),
      { xml: attribute() },
    ),
    version: field({ kind: "integer" }, { required: [2, 4], waived: true, xml: attribute() }),
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

/** XML also allows a UUID in braces; some writers write it so in JSON, in capitals, or alone. */
function otherSerialNumber(written: string): Tolerated | null {
  const uuid = /^(?:urn:uuid:)?\{?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}?$/i.exec(written)?.[1];
  if (uuid === undefined) return null;
  const reads = `urn:uuid:${uuid.toLowerCase()}`;
  const says = "is a UUID in another form than urn:uuid: and lower case";
  return { reads, says, ...(written === `{${uuid.toLowerCase()}}` && { inXml: true }) };
}

const ids: ReadonlySet<string> = new Set([...current, ...deprecated]);

/** The package omits the withdrawn ids that express "or later" with a plus sign. */
const orLater = /^(?:AGPL|GPL|LGPL)-\d\.\d\+$/;
/** Most exceptions have this word in their names. */
const exception = { letters: /^[A-Za-z0-9.-]+$/, word: /[A-Za-z0-9.-]-exception(?:$|-[A-Za-z0-9.-])/ };
const otherExceptions: ReadonlySet<string> = new Set(["GPL-CC-1.0", "Linux-syscall-note", "LLGPL", "SHL-2.0", "SHL-2.1"]);

/** Ids are case-sensitive: `MIT`, not `mit`. */
export function isSpdxLicenseId(id: string): boolean {
  return ids.has(id) || orLater.test(id) || (exception.letters.test(id) && exception.word.test(id)) || otherExceptions.has(id);
}

const idsByLowerCase: ReadonlyMap<string, string> = new Map([...ids].map((id) => [id.toLowerCase(), id]));

/**
 * SPDX compares ids without case (https://spdx.github.io/spdx-spec/v2.3/SPDX-license-expressions/). Expressions and ids of a document's own
 * belong into other fields, but cannot be misread. Any other text may be a license that the writer did not mean.
 */
function otherLicenseId(written: string): Tolerated | null {
  const known = idsByLowerCase.get(written.toLowerCase());
  if (known !== undefined) return { reads: known, says: "is an id of SPDX's license list in other capitals" };
  const words = written.length > 1_024 ? [] : written.split(/[\s()]+/).filter((word) => word !== "");
  const isExpression = words.length > 0 && words.every(isExpressionWord);
  return isExpression
    ? { reads: written, says: "is an expression or a document's own id, which belongs into another field" }
    : null;
}

function isExpressionWord(word: string): boolean {
  const id = word.replace(/\+$/, "").toLowerCase();
  return (
    /^(?:AND|OR|WITH|(?:DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+)$/i.test(word) ||
    idsByLowerCase.has(id) ||
    isSpdxLicenseId(word)
  );
}
