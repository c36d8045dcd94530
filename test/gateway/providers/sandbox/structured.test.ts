import { describe, expect, test } from "bun:test";
import { sandboxAnswer, sandboxUnsupportedField, structuredText } from "../../../../src/gateway/providers/sandbox/answer.ts";
import { hostileSchemas } from "../../../hostile/blocking/hostile-schemas.ts";
import { blockedMsMax } from "../../../hostile/blocking/thread-time.ts";
import { threadMs } from "../../../support/processes/thread-time.ts";

const format = (schema: unknown) => ({ type: "json_schema", json_schema: { name: "answer", schema } });

function answer(schema: unknown, said = "Hello"): unknown {
  return JSON.parse(structuredText({ response_format: format(schema) }, said) ?? "null");
}

function refusal(schema: unknown, said = "Hello"): { param: string; message: string } | null {
  const messages = [{ role: "user", content: said }];
  return sandboxUnsupportedField({ model: "sandbox/echo", messages, response_format: format(schema) });
}

const object = (properties: Record<string, unknown>, further = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...further,
});

const tree = {
  $ref: "#/$defs/node",
  $defs: {
    node: object({ name: { type: "string" }, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } }),
  },
};

describe("the sandbox answers a schema with a small value that the schema accepts", () => {
  test.each<[string, unknown, unknown]>([
    [
      "each type has its zero",
      object({
        s: { type: "string" },
        n: { type: "number" },
        i: { type: "integer" },
        b: { type: "boolean" },
        a: { type: "array" },
        z: { type: "null" },
      }),
      { s: "", n: 0, i: 0, b: false, a: [], z: null },
    ],
    ["only what is required", { ...object({ a: { type: "string" } }), required: [] }, {}],
    ["the first value of a list", object({ kind: { enum: ["cat", "dog"] }, one: { const: 1 } }), { kind: "cat", one: 1 }],
    ["a value of the list that the type allows", { type: "integer", enum: ["cat", 2] }, 2],
    [
      "numbers within bounds",
      object({
        up: { type: "integer", minimum: 3 },
        over: { type: "integer", exclusiveMinimum: 3 },
        down: { type: "number", maximum: -0.5 },
        step: { type: "integer", minimum: 7, multipleOf: 5 },
        between: { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 2 },
      }),
      { up: 3, over: 4, down: -0.5, step: 10, between: 1.5 },
    ],
    ["texts as long as they must be", object({ s: { type: "string", minLength: 3 } }), { s: "xxx" }],
    ["a bound below zero asks for nothing", { type: "string", minLength: -1 }, ""],
    [
      "formats, also beside the pattern of the same meaning",
      object({
        at: { type: "string", format: "date-time" },
        mail: { type: "string", format: "email", pattern: "^[^@]+@[^@]+$" },
      }),
      { at: "2026-01-01T00:00:00Z", mail: "user@example.com" },
    ],
    ["as many items as there must be", { type: "array", minItems: 2, items: { type: "boolean" } }, [false, false]],
    ["a tuple", { type: "array", minItems: 2, prefixItems: [{ type: "string" }, { type: "integer" }], items: false }, ["", 0]],
    ["the first alternative that ends", tree, { name: "", next: null }],
    [
      "an alternative of oneOf that no other accepts",
      { oneOf: [{ type: "number" }, { type: "integer" }, { type: "string" }] },
      "",
    ],
    [
      "parts that hold together",
      { allOf: [object({ a: { type: "string" } }, { additionalProperties: true }), { required: ["b"] }] },
      { a: "", b: null },
    ],
    [
      "a reference with a note beside it",
      { $ref: "#/definitions/x", description: "note", definitions: { x: { type: "integer" } } },
      0,
    ],
    ["anything", {}, null],
  ])("%s", (_name, schema, value) => {
    expect(refusal(schema)).toBeNull();
    expect(answer(schema)).toEqual(value);
  });

  test("what the user said is the answer where the schema accepts it", () => {
    const schema = object({ name: { type: "string" } });
    expect(answer(schema, '{"name":"Ada"}')).toEqual({ name: "Ada" });
    expect(answer(schema, '{"name":1}')).toEqual({ name: "" });
  });

  test("the length of a text counts characters, of which some are two units of UTF-16", () => {
    const schema = { type: "string", minLength: 3, maxLength: 3 };
    for (const said of ["😀😀😀", "a😀b", "abc"]) expect(answer(schema, JSON.stringify(said))).toBe(said);
    for (const said of ["😀😀", "ab", "abcd"]) expect(answer(schema, JSON.stringify(said))).toBe("xxx");
  });

  test("values are equal whatever the order of their fields, and only then", () => {
    const schema = { enum: [null, { a: [1, { b: "x" }], c: 2 }] };
    expect(answer(schema, '{"c":2,"a":[1,{"b":"x"}]}')).toEqual({ a: [1, { b: "x" }], c: 2 });
    for (const said of ['{"a":[1,{"b":"y"}],"c":2}', '{"a":[1,{"b":"x"}]}', '{"a":[1],"c":2}', "[]"])
      expect(answer(schema, said)).toBeNull();
  });

  test("without a schema the answer is an object", () => {
    const any = { response_format: { type: "json_object" } };
    expect(structuredText(any, "Hello")).toBe('{"text":"Hello"}');
    expect(structuredText(any, ' {"a":1}')).toBe('{"a":1}');
    expect(structuredText({ response_format: { type: "text" } }, "Hello")).toBeNull();
  });
});

describe("a schema that the sandbox makes no value for is refused by the name of the field", () => {
  test.each<[string, unknown]>([
    [".properties.code.pattern", object({ code: { type: "string", pattern: "^(a+)+$" } })],
    [".properties.code.not", object({ code: { not: {} } })],
    [".properties.n", object({ n: { type: "integer", minimum: 3, maximum: 2 } })],
    [".items.type", { type: "array", minItems: 1, items: { type: "date" } }],
    [".$ref", { $ref: "#/$defs/none" }],
    [".properties.next.$ref", { $ref: "#/$defs/n", $defs: { n: object({ next: { $ref: "#/$defs/n" } }) } }],
    [".anyOf[1].pattern", { anyOf: [false, { type: "string", pattern: "x" }] }],
    [".enum", { type: "string", enum: [1] }],
    ["", object({ s: { type: "string", format: "uuid", maxLength: 5 } })],
  ])("%s", (path, schema) => {
    const found = refusal(schema);
    expect(found?.param).toBe(`response_format.json_schema.schema${path}`);
    expect(found?.message).toStartWith(`sandbox/echo does not support response_format.json_schema.schema${path}: `);
  });

  test("a value or a schema that is too large ends within a moment", () => {
    const items = { type: "array", minItems: 1_000_000_000, items: { type: "string", minLength: 1_000_000_000 } };
    const values = Array.from({ length: 200_000 }, (_, index) => index);
    const double = { anyOf: [{ $ref: "#/x" }, { $ref: "#/x" }] };
    const schemas = [items, { type: "string", enum: values }, { type: "string", minLength: 1e9 }, { ...double, x: double }];
    const refuseAll = () => schemas.forEach((schema) => expect(refusal(schema)).not.toBeNull());
    expect(threadMs(refuseAll, 2_000)).toBeLessThan(2_000);
  });

  test.each(hostileSchemas)("neither a schema nor a text blocks the thread: %s", (_name, schema, said) => {
    let refused: ReturnType<typeof refusal> = null;
    expect(threadMs(() => (refused = refusal(schema, said)), blockedMsMax)).toBeLessThan(blockedMsMax);
    const param = expect.stringMatching(/^response_format\.json_schema\.schema/);
    expect([null, { param, message: expect.stringContaining("does not support"), sent: expect.any(String) }]).toContainEqual(
      refused,
    );
  });

  test("a text that cannot be checked within the work of a request is refused by the name of the schema", () => {
    const allOf = Array.from({ length: 9_000 }, () => ({ minLength: 600_000 }));
    const refused = refusal({ allOf }, JSON.stringify("x".repeat(990_000)));
    expect(refused?.param).toBe("response_format.json_schema.schema");
    expect(refused?.message).toEndWith("the schema, or the value for it, is too large");
  });

  test("a tool whose parameters repeat a name in objects within objects is called at once", () => {
    const nested = Array.from({ length: 20 }).reduce<object>(
      (inner) => ({ type: "object", required: Array.from({ length: 300 }, () => "a"), properties: { a: inner } }),
      {},
    );
    const tools = [{ type: "function", function: { name: "f", parameters: nested } }];
    expect(threadMs(() => sandboxAnswer({ messages: [], tools, tool_choice: "required" }), blockedMsMax)).toBeLessThan(
      blockedMsMax,
    );
  });

  test("a long text is divided into tokens without blocking the thread", () => {
    const request = { messages: [{ role: "user", content: "x".repeat(1_000_000) }], max_tokens: 1_000_000 };
    expect(threadMs(() => expect(sandboxAnswer(request)?.tokens).toHaveLength(250_000), blockedMsMax)).toBeLessThan(blockedMsMax);
  });
});
