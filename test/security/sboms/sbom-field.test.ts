/** A document is extracted from a call's body by its bytes, and the rest keeps its meaning. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { extractJsonField } from "../../../src/security/sboms/sbom-field.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const cut = (body: string, path = ["sbom"]) => {
  const found = extractJsonField(bytesOf(body), path);
  return found && { document: textOf(found.document), rest: textOf(found.rest) };
};

describe("a document in a body", () => {
  test.each([
    [
      "as an object, with its very bytes",
      '{"a":1,"sbom": { "b" : "}\\"" } ,"c":[2]}',
      '{ "b" : "}\\"" }',
      '{"a":1,"sbom": {} ,"c":[2]}',
    ],
    ["as a text, with what it says", '{"sbom":"{\\n\\u00e9\\"}","c":2}', '{\né"}', '{"sbom":"","c":2}'],
    ["whose key is written with escapes", '{"\\u0073bom":{"x":1}}', '{"x":1}', '{"\\u0073bom":{}}'],
    ["the last where it stands twice", '{"sbom":{"x":1},"sbom":{"x":2}}', '{"x":2}', '{"sbom":{"x":1},"sbom":{}}'],
    ["that ends in the middle, up to there", '{"sbom":{"x":[1,', '{"x":[1,', '{"sbom":{}'],
  ])("is found %s", (_what, body, document, rest) => {
    expect(cut(body)).toEqual({ document, rest });
  });

  test("is found below other fields", () => {
    const body = '{"params":{"name":"n","arguments":{"project":"p","sbom":{"x":1}}}}';
    expect(cut(body, ["params", "arguments", "sbom"])).toEqual({
      document: '{"x":1}',
      rest: '{"params":{"name":"n","arguments":{"project":"p","sbom":{}}}}',
    });
  });

  test.each([
    ["a list", '{"sbom":[1]}'],
    ["null", '{"sbom":null}'],
    ["a number", '{"sbom":12}'],
    ["in a list", '[{"sbom":{}}]'],
    ["deeper", '{"a":{"sbom":{}}}'],
    ["a text that is not one", '{"sbom":"\\x"}'],
    ["half of a surrogate pair", '{"sbom":"\\ud83d"}'],
    ["in what is no JSON", "{sbom:{}}"],
    ["nowhere", ""],
    ["nowhere, for the body ends", '{"sbom"'],
  ])("is not found where it is %s", (_what, body) => {
    expect(cut(body)).toBeNull();
  });

  test("is what JSON.parse reads there, and the rest is the rest, however the body is written", () => {
    const document = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.string({ unit: "grapheme" }));
    const body = fc.record({ fields: fc.dictionary(fc.string(), fc.jsonValue()), document, indent: fc.nat(3) });
    fc.assert(
      fc.property(body, ({ fields, document: sbom, indent }) => {
        const whole: Record<string, unknown> = JSON.parse(JSON.stringify({ ...fields, sbom }));
        const found = cut(JSON.stringify(whole, null, indent));
        expect(typeof sbom === "string" ? found?.document : JSON.parse(found?.document ?? "")).toEqual(whole["sbom"]);
        expect(JSON.parse(found?.rest ?? "")).toEqual({ ...whole, sbom: typeof sbom === "string" ? "" : {} });
      }),
      { numRuns: 300 },
    );
  });
});
