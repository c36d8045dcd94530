import { expect, test } from "bun:test";
import fc from "fast-check";
import { ToolArguments } from "../../../../src/gateway/providers/wire/json.ts";
import { jsonDepthMax, jsonValuesMax } from "../../../../src/http/limits.ts";
import { threadMs } from "../../../support/processes/thread-time.ts";

const toolArguments = (text: string) => new ToolArguments().read(text);
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const wide = (values: number) => `{"a":[${Array.from({ length: values }, () => "1").join(",")}]}`;

test.each([
  ["", {}],
  ["{}", {}],
  [' {"city":"Oslo"} ', { city: "Oslo" }],
  ['{"code":"[{,\\"[{","n":[1,{"a":null}]}', { code: '[{,"[{', n: [1, { a: null }] }],
])("the arguments %p parse to an object", (text, object) => {
  expect<unknown>(toolArguments(text)).toEqual(object);
});

test.each(["{", "[]", "null", "7", '"{}"', " ", '{"a":', "{'a':1}", "city=Oslo"])("the arguments %p are invalid", (text) => {
  expect(toolArguments(text)).toBeNull();
});

test("an object may be as deep and as wide as a whole request, and no more", () => {
  expect(toolArguments(nested(jsonDepthMax))).not.toBeNull();
  expect(toolArguments(nested(jsonDepthMax + 1))).toBeNull();
  expect(toolArguments(wide(jsonValuesMax))).not.toBeNull();
  expect(toolArguments(wide(jsonValuesMax + 1))).toBeNull();
});

test("the calls of one request share the limits of a whole request", () => {
  const read = new ToolArguments();
  const half = wide(jsonValuesMax / 2);
  expect([half, half, "{}"].map((text) => read.read(text) !== null)).toEqual([true, true, false]);
});

test("brackets within texts do not count as depth", () => {
  const code = { content: `${"[{".repeat(1_000)}${",".repeat(jsonValuesMax)}\\"` };
  expect<unknown>(toolArguments(JSON.stringify(code))).toEqual(code);
});

test("every object within the depth limit is returned unchanged", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (object) => {
      const text = JSON.stringify(object);
      expect<unknown>(toolArguments(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("a text of 4 million brackets is refused before it is parsed, which would take almost a second", () => {
  const text = `{"a":${"[".repeat(4_000_000)}`;
  expect(threadMs(() => expect(toolArguments(text)).toBeNull(), 200)).toBeLessThan(200);
});
