/** JSON schemas and texts below 1 MiB together that are as slow as possible to hold against each other. */

const many = (count: number, value: unknown) => Array.from({ length: count }, () => value);
const fields = (count: number) => Object.fromEntries(many(count, 0).map((_, index) => [String((index * 7_919) % 1_000_000), 1]));
const text = JSON.stringify("x".repeat(990_000));
const faces = JSON.stringify("😀".repeat(240_000));
const items = JSON.stringify(many(9_000, 0).map((_, index) => "y".repeat(100) + index));
const chain = (length: number) =>
  Object.fromEntries(many(length, 0).map((_, at) => [String(at), at + 1 === length ? true : { $ref: `#/${at + 1}` }]));

/** What it is, the schema, and what the user says. */
export const hostileSchemas: [string, unknown, string][] = [
  ["parts without a bound, and a long text", { allOf: many(9_000, {}) }, text],
  ["parts with a bound, and a long text", { allOf: many(9_000, { minLength: 600_000 }) }, text],
  ["parts with a bound, and a text of pairs", { allOf: many(9_000, { minLength: 200_000 }) }, faces],
  ["alternatives with a bound", { anyOf: [...many(4_000, { minLength: 990_001 }), {}] }, text],
  ["alternatives of which one alone may hold", { oneOf: many(4_900, { type: "string" }) }, text],
  ["a list of empty lists, and a long one", { enum: many(5_000, []) }, JSON.stringify(many(9_000, 1))],
  ["a list of objects, and a large one", { enum: [null, ...many(3_000, fields(3))] }, JSON.stringify(fields(4_000))],
  ["items that differ, asked again and again", { allOf: many(4_000, { uniqueItems: true }) }, items],
  [
    "no further field, asked again and again",
    { anyOf: [...many(3_000, { additionalProperties: false }), {}] },
    JSON.stringify(fields(4_900)),
  ],
  ["many keywords merged with many parts", { ...fields(4_900), allOf: many(3_000, {}) }, "x"],
  ["many types", { allOf: many(4_000, { type: many(4_000, "a") }) }, "x"],
  ["two long lists of types", { allOf: [{ type: many(90_000, "a") }, { type: many(90_000, "b") }] }, "x"],
  ["items that require no names, only numbers", { type: "array", minItems: 1e9, items: { required: many(190_000, 1) } }, "x"],
  ["items of many types", { type: "array", minItems: 1e9, items: { type: ["null", ...many(190_000, "a")] } }, "x"],
  ["references to references", { $ref: "#/0", ...chain(4_900) }, "x"],
  ["a long name of a reference", { anyOf: many(4_000, { $ref: "#/x" }), x: { $ref: `#/${"y".repeat(500_000)}` } }, "x"],
  ["a schema that holds itself", { anyOf: [{ type: "string" }, { $ref: "#" }] }, "{}"],
  ["alternatives that never hold", { anyOf: many(4_900, { enum: [] }) }, "x"],
  ["a text of empty lists", {}, `[${many(300_000, "[]").join(",")}]`],
  ["a text of deep lists", {}, "[".repeat(900_000)],
];
