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
  test("a chain of definitions as long as a body holds", () => {
    const length = 4_000;
    const $defs = Object.fromEntries(
      Array.from({ length }, (_, index) => [`d${index}`, index + 1 < length ? { $ref: `#/$defs/d${index + 1}` } : city]),
    );
    expect(problemOf({ ...object({ a: { $ref: "#/$defs/d0" } }), $defs })).toBeNull();
  });

  test("references to each depth of a large part", () => {
    let part: Record<string, unknown> = object(
      Object.fromEntries(Array.from({ length: 4_000 }, (_, index) => [`f${index}`, city])),
    );
    for (let depth = 0; depth < 25; depth++) part = object({ a: part });
    const pointers = Array.from({ length: 25 }, (_, depth) => `#/$defs/deep${"/properties/a".repeat(depth)}`);
    const schema = object(Object.fromEntries(pointers.map(($ref, index) => [`r${index}`, { $ref }])), { $defs: { deep: part } });
    expect(problemOf(schema)?.what).toBe("a schema with so many parts");
  });

  test("many spellings of one reference are one definition", () => {
    const spellings = ["#/$defs/aa", "#/$defs/%61a", "#/$defs/a%61", "#/$defs/%61%61"];
    const fitted = fit(
      object(Object.fromEntries(spellings.map(($ref, index) => [`r${index}`, { $ref }])), { $defs: { aa: city } }),
    );
    expect(fitted["$defs"]).toEqual({ aa: city });
  });
});
