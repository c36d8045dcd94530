/** The parts of a CycloneDX document without components; source: the JSON schemas of versions 1.2 to 1.7. */
import { isSpdxLicenseId } from "../license-ids.ts";
import { isObject } from "../json/value.ts";
import { always, field, list, object, oneOf, opaque, text } from "../shape/shape.ts";

export const attribute = (name?: string) => ({ as: "attribute", ...(name === undefined ? {} : { name }) }) as const;
export const content = { as: "content" } as const;

/** Refs must not be empty since 1.5. */
export const reference = text();
export const timestamp = text({
  pattern: /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/,
  says: "a date and time such as 2026-01-31T12:00:00Z",
});

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

export const hashes = list(() => hash, { items: "hash" });

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

export const properties = list(() => property, { items: "property" });

const license = object(
  {
    "bom-ref": field(reference, { since: 5, xml: attribute() }),
    id: field(text({ allows: isSpdxLicenseId, says: "an id of SPDX's license list (any other license goes into `name`)" })),
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
export const licenses = list(() => licenseChoice, {
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

export const swid = object(
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

export const patches = list(() => patch, { items: "patch" });

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

export const citations = list(() => citation, { items: "citation" });
