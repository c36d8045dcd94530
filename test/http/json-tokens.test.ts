import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { quote, JsonTokens, noToken } from "../../src/http/json-tokens.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Each token's characters; of a string that the text cuts, those that are there. */
function tokensOf(text: string): string[] {
  const bytes = bytesOf(text);
  const tokens = new JsonTokens(bytes);
  const found: string[] = [];
  while (tokens.next() !== noToken) found.push(new TextDecoder().decode(bytes.subarray(tokens.start, tokens.end)));
  return found;
}

describe("the tokens of a text", () => {
  test("are its brackets, braces, commas, colons and strings", () => {
    expect(tokensOf('{"a" : [1, null,"b,c"]}')).toEqual(["{", '"a"', ":", "[", ",", ",", '"b,c"', "]", "}"]);
  });

  test.each(['"\\""', '"\\\\"', '"\\u0022"', '"\\u00e9\\n"'])("include the string %s whole", (string) => {
    expect(tokensOf(`[${string}]`)).toEqual(["[", string, "]"]);
  });

  test.each(['"\\u"', '"\\u12"', '"\\u\\""'])("end the string %s, which is no JSON, at its first unescaped quote", (string) => {
    expect(tokensOf(`[${string}]`)).toEqual(["[", string, "]"]);
  });

  test.each(['"', '"abc', '"\\', '"\\"', '"\\u12'])("show that the text ends within %s", (text) => {
    const tokens = new JsonTokens(bytesOf(text));
    expect([tokens.next(), tokens.isCut, tokens.next()]).toEqual([quote, true, noToken]);
  });

  test("include strings of any length whole, wherever their escapes are", () => {
    const string = fc.array(fc.constantFrom("x".repeat(7), "x".repeat(40), '\\"', "\\\\", "\\n", "\\u00e9", "é"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.array(string, { minLength: 1, maxLength: 6 }), (strings) => {
        const quoted = strings.map((parts) => `"${parts.join("")}"`);
        const between = quoted.slice(1).flatMap((one) => [",", one]);
        expect(tokensOf(quoted.join(","))).toEqual([...quoted.slice(0, 1), ...between]);
      }),
    );
  });

  test.each(["x".repeat(100), `${"x".repeat(100)}\\`, `${"x".repeat(100)}\\"`])("show that the text ends within %s", (text) => {
    const tokens = new JsonTokens(bytesOf(`"${text}`));
    expect([tokens.next(), tokens.isCut, tokens.next()]).toEqual([quote, true, noToken]);
  });

  test("are the same however the text comes in pieces", () => {
    const text = fc.array(
      fc.constantFrom("{", "}", "[", "]", ",", ":", '"', "\\", "\\u", "\\ud83d", "é", "1", " ", "x", "x".repeat(40)),
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (parts, places) => {
        const bytes = bytesOf(parts.join(""));
        const cuts = places.map((place) => place % (bytes.length + 1)).toSorted((one, other) => one - other);
        expect(tokensInPieces(bytes, cuts)).toEqual(tokensInPieces(bytes, []));
      }),
    );
  });
});

/** Where each token begins in the whole text, and at the end whether a string is cut. */
function tokensInPieces(bytes: Uint8Array, cuts: number[]): [number, number][] {
  const tokens = new JsonTokens(new Uint8Array(0));
  const found: [number, number][] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    tokens.continueIn(bytes.subarray(at, cut));
    for (let token = tokens.next(); token !== noToken; token = tokens.next()) found.push([at + tokens.start, token]);
    at = cut;
  }
  return [...found, [Number(tokens.isCut), noToken]];
}
