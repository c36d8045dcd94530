import { describe, expect, test } from "bun:test";
import { fittedSchema } from "../../../../src/gateway/providers/anthropic/schema.ts";

const at = "response_format.json_schema.schema";
const fit = (schema: Record<string, unknown>) => fittedSchema(schema, at).schema;
const problemOf = (schema: Record<string, unknown>) => fittedSchema(schema, at).problem;
const object = (properties: Record<string, unknown>, more: object = {}) => ({ type: "object", properties, ...more });
const closed = (properties: Record<string, unknown>, more: object = {}) =>
  object(properties, { additionalProperties: false, ...more });
const city = { type: "string" };

describe("a schema is fitted into what the API takes", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["objects are closed", object({ city }, { required: ["city"] }), closed({ city }, { required: ["city"] })],
    ["open objects are closed", object({ city }, { additionalProperties: true }), closed({ city })],
    ["objects in objects", object({ place: object({ city }) }), closed({ place: closed({ city }) })],
    ["objects in lists", { type: "array", items: object({ city }) }, { type: "array", items: closed({ city }) }],
    ["objects without a type", { properties: { city } }, closed({ city })],
    ["objects without fields", object({}), closed({})],
    [
      "bounds move into the description",
      { type: "integer", description: "An age", minimum: 1, maximum: 10 },
      { type: "integer", description: "An age\n\n{minimum: 1, maximum: 10}" },
    ],
    [
      "lengths too",
      { type: "string", maxLength: 5, pattern: "^a" },
      { type: "string", description: '{maxLength: 5, pattern: "^a"}' },
    ],
    ["known forms of texts stay", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["others move", { type: "string", format: "byte" }, { type: "string", description: '{format: "byte"}' }],
    [
      "a list has one item at least or none",
      { type: "array", items: city, minItems: 1 },
      { type: "array", items: city, minItems: 1 },
    ],
    [
      "more move",
      { type: "array", items: city, minItems: 2, uniqueItems: true },
      { type: "array", items: city, description: "{minItems: 2, uniqueItems: true}" },
    ],
    ["oneOf is anyOf", { oneOf: [city, { type: "null" }] }, { anyOf: [city, { type: "null" }] }],
    ["a list of single types stays", { type: ["string", "null"] }, { type: ["string", "null"] }],
    [
      "other lists become variants",
      { type: ["object", "null"], properties: { city }, description: "A place" },
      { anyOf: [closed({ city }), { type: "null" }], description: "A place" },
    ],
    [
      "allOf of one schema is that schema",
      { allOf: [object({ city })], description: "Where" },
      closed({ city }, { description: "Where" }),
    ],
    ["a value alone", { const: "a" }, { enum: ["a"] }],
    ["values with a type", { type: "string", const: "a", title: "A" }, { type: "string", const: "a", title: "A" }],
    ["what says nothing to a model is left out", { $schema: "x", $id: "y", ...city }, city],
    [
      "definitions",
      object({ home: { $ref: "#/$defs/Place" }, work: { $ref: "#/$defs/Place" } }, { $defs: { Place: object({ city }) } }),
      { ...closed({ home: { $ref: "#/$defs/Place" }, work: { $ref: "#/$defs/Place" } }), $defs: { Place: closed({ city }) } },
    ],
    [
      "definitions of older drafts, and a root that is one of them",
      { $ref: "#/definitions/Place", definitions: { Place: object({ city: { $ref: "#/definitions/City" } }), City: city } },
      { ...closed({ city: { $ref: "#/$defs/City" } }), $defs: { City: city } },
    ],
    [
      "references to other parts",
      object({ home: object({ city }), work: { $ref: "#/properties/home" } }),
      { ...closed({ home: closed({ city }), work: { $ref: "#/$defs/home" } }), $defs: { home: closed({ city }) } },
    ],
  ])("%s", (_, schema, expected) => {
    expect(fittedSchema(schema, at)).toEqual({ schema: expected, problem: null });
  });

  test("the client's own schema stays as it is", () => {
    const schema = object({ n: { type: "integer", minimum: 1 } });
    const before = structuredClone(schema);
    fit(schema);
    expect(schema).toEqual(before);
  });

  test("a field may be called like one of an object's prototype", () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"object","properties":{}}}}');
    expect(JSON.stringify(fit(schema))).toContain('"__proto__":{"type":"object"');
  });
});

describe("what the API cannot express is a problem with the path of its keyword", () => {
  test.each<[string, Record<string, unknown>]>([
    [`${at}.properties`, { type: "object" }],
    [`${at}.additionalProperties`, { type: "object", additionalProperties: city }],
    [`${at}.properties.a.additionalProperties`, object({ a: object({}, { additionalProperties: true }) })],
    [`${at}.properties.a`, object({ a: {} })],
    [`${at}.properties.a`, object({ a: true })],
    [`${at}.properties.a.type`, object({ a: { type: "date" } })],
    [`${at}.items`, { type: "array", items: {} }],
    [`${at}.anyOf[1]`, { anyOf: [city, {}] }],
    [`${at}.enum`, { enum: [{ a: 1 }] }],
    [`${at}.const`, { const: [1] }],
    [`${at}.allOf`, { allOf: [object({ city }), object({ n: city })] }],
    [`${at}.properties.a.$ref`, object({ a: { $ref: "https://example.com/schema.json" } })],
    [`${at}.properties.a.$ref`, object({ a: { $ref: "#/$defs/missing" } })],
    [at, object({ next: { $ref: "#" } })],
    [`${at}.$defs.Node`, { $ref: "#/$defs/Node", $defs: { Node: object({ next: { $ref: "#/$defs/Node" } }) } }],
  ])("%s of %j", (path, schema) => {
    expect(problemOf(schema)?.at).toBe(path);
  });

  test("a long path is cut", () => {
    expect(problemOf(object({ ["a".repeat(5_000)]: {} }))?.at.length).toBeLessThan(300);
  });
});

describe("a schema that would cost much work ends early", () => {
  const tooLong = "references that make the schema more than three times as long";

  test("a chain of definitions as long as a body holds", () => {
    const length = 4_000;
    const $defs = Object.fromEntries(
      Array.from({ length }, (_, index) => [`d${index}`, index + 1 < length ? { $ref: `#/$defs/d${index + 1}` } : city]),
    );
    expect(problemOf({ ...object({ a: { $ref: "#/$defs/d0" } }), $defs })).toBeNull();
  });

  test("references to each depth of a large part, which is written once", () => {
    let part: Record<string, unknown> = object(
      Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`f${index}`, city])),
    );
    for (let depth = 0; depth < 25; depth++) part = object({ a: part });
    const pointers = Array.from({ length: 25 }, (_, depth) => `#/$defs/deep${"/properties/a".repeat(depth)}`);
    const schema = object(Object.fromEntries(pointers.map(($ref, index) => [`r${index}`, { $ref }])), { $defs: { deep: part } });
    expect(problemOf(schema)).toBeNull();
    expect(JSON.stringify(fit(schema)).length).toBeLessThan(JSON.stringify(schema).length * 1.1);
  });

  // As zod-to-json-schema writes it: the first of equal parts is there, and the others refer to it.
  test.each([5, 50, 500])("parts with %d fields that refer to parts in them", (count) => {
    const fields = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, city]));
    const address = object({ ...fields, country: object(fields) });
    const patient = "#/properties/patient";
    const person = object({ ...fields, address, born: { $ref: `${patient}/properties/address/properties/country` } });
    const clinic = object({ ...fields, address: { $ref: `${patient}/properties/address` } });
    const schema = object({ patient: person, contact: { $ref: patient }, clinic });
    expect(problemOf(schema)).toBeNull();
    expect(JSON.stringify(fit(schema)).length).toBeLessThan(JSON.stringify(schema).length * 2.5);
  });

  test.each([
    ["its description", { type: "string", description: "d".repeat(60_000) }],
    ["its title", { type: "string", title: "t".repeat(60_000) }],
    ["its values", { enum: ["v".repeat(60_000)] }],
    ["its value", { const: "v".repeat(60_000) }],
    ["what it requires", { type: "object", properties: { a: city }, required: ["r".repeat(60_000)] }],
    ["the name of a field", { type: "object", properties: { ["n".repeat(60_000)]: city } }],
    ["what moves into its description", { type: "string", pattern: "p".repeat(60_000) }],
  ])("a part that many references would repeat: %s", (_, large) => {
    const deep = Array.from({ length: 50 }).reduce<Record<string, unknown>>((part) => object({ a: part }), large);
    const refs = Array.from({ length: 50 }, (_one, depth) => [
      `r${depth}`,
      { $ref: `#/$defs/deep${"/properties/a".repeat(depth)}` },
    ]);
    expect(problemOf(object(Object.fromEntries(refs), { $defs: { deep } }))).toBeNull();
    // Each reference is found when the part that contains its target has been written.
    const chain = refs.map(([name, ref], index) => [
      name,
      object({ ref, ...(index < 49 && { next: { $ref: `#/$defs/r${index + 1}` } }) }),
    ]);
    const late = { $ref: "#/$defs/r0", $defs: { ...Object.fromEntries(chain), deep } };
    expect(problemOf(late)?.what).toBe(tooLong);
  });

  // Without the bounds these take seconds to minutes.
  test("a list of types and one of values, each as long as a body holds", () => {
    const schema = { type: Array.from({ length: 50_000 }, (_, index) => index), enum: Array.from({ length: 140_000 }, () => 0) };
    expect(problemOf(schema)).toEqual({ at: `${at}.type`, what: "this type" });
  });

  test("types of which each would get all values", () => {
    const types = ["object", "array", "string", "integer", "number", "boolean", "null"];
    const values = Array.from({ length: 140_000 }, (_, index) => index);
    expect(problemOf({ type: types, enum: values, properties: { city }, items: city })?.what).toBe(tooLong);
  });

  test("pointers that are long, or have percent signs that say nothing", () => {
    const pointer = (length: number) => `#${"/%".repeat(length / 2)}`;
    const many = (length: number) => Array.from({ length: 8_000 }, () => ({ $ref: pointer(length) }));
    expect(problemOf(object({ a: { $ref: pointer(8_000_000) } }))?.at).toBe(`${at}.properties.a.$ref`);
    expect(problemOf({ anyOf: many(1_000) })?.at).toBe(`${at}.anyOf[0].$ref`);
    const found = object({ a: { $ref: `#/$defs/${"a".repeat(1_990)}` } }, { $defs: { ["a".repeat(1_990)]: city } });
    expect(problemOf(found)).toBeNull();
    const longer = object({ a: { $ref: `#/$defs/${"a".repeat(2_000)}` } }, { $defs: { ["a".repeat(2_000)]: city } });
    expect(problemOf(longer)?.at).toBe(`${at}.properties.a.$ref`);
  });

  test("nothing is read after the first problem", () => {
    let reads = 0;
    const counted = new Proxy(city, {
      ownKeys: (part) => (reads++, Reflect.ownKeys(part)),
      has: (part, key) => (reads++, key in part),
    });
    const parts = Array.from({ length: 1_000 }, (_, index) => [`f${index}`, counted]);
    expect(problemOf(object({ a: {}, ...Object.fromEntries(parts) }))?.at).toBe(`${at}.properties.a`);
    expect(reads).toBeLessThan(2_000);
  });

  test("many spellings of one reference are one definition", () => {
    const spellings = ["#/$defs/aa", "#/$defs/%61a", "#/$defs/a%61", "#/$defs/%61%61"];
    const fitted = fit(
      object(Object.fromEntries(spellings.map(($ref, index) => [`r${index}`, { $ref }])), { $defs: { aa: city } }),
    );
    expect(fitted["$defs"]).toEqual({ aa: city });
  });
});
