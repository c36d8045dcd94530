import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseJsonObject, scanJson, quote, JsonTokens, noToken } from "../../src/http/json.ts";
import { jsonDepthMax, jsonFieldsMax, jsonValuesMax } from "../../src/http/limits.ts";
import { threadMs } from "../support/processes/thread-time.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const refusal = (text: string) => {
  try {
    scanJson(bytesOf(text));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
};

function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + valuesIn(item), 1);
}

describe("nesting", () => {
  test("64 levels are accepted, 65 are refused", () => {
    expect(refusal("[".repeat(jsonDepthMax) + "]".repeat(jsonDepthMax))).toBeNull();
    expect(refusal('{"a":'.repeat(65) + "1" + "}".repeat(65))).toContain("64 levels");
  });

  test("brackets inside strings do not count", () => {
    expect(refusal(JSON.stringify({ text: "[{".repeat(1_000) + '"\\' }))).toBeNull();
  });
});

describe("fields of an object", () => {
  const fields = (count: number) => JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, ":"])));

  test("5,000 fields are accepted, one more is refused", () => {
    expect(refusal(fields(jsonFieldsMax))).toBeNull();
    expect(refusal(fields(jsonFieldsMax + 1))).toContain("more than 5000 fields");
  });

  test("the limit holds for each object separately", () => {
    const most = fields(jsonFieldsMax);
    expect(refusal(`{"a":${most},"b":[${most},${most}],"c":1}`)).toBeNull();
    expect(refusal(`[{"a":1},${fields(jsonFieldsMax + 1)}]`)).toContain("more than 5000 fields");
  });

  test("texts outside of all objects do not count, also not for the next body", () => {
    for (let text = 0; text <= jsonFieldsMax; text++) expect(refusal("}:")).toBeNull();
  });
});

describe("values", () => {
  test("200,000 values are accepted, one more is refused", () => {
    const list = (count: number) => `[${Array.from({ length: count }, () => "0").join(",")}]`;
    expect(refusal(list(jsonValuesMax - 1))).toBeNull();
    expect(refusal(list(jsonValuesMax))).toContain("200000 JSON values");
  });

  test("the count of values is exact for any JSON text", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), (value, indent) => {
        const padding = Array.from({ length: jsonValuesMax - 1 - valuesIn(value) }, () => "[ ]");
        const text = JSON.stringify(value, null, indent);
        expect(refusal(`[${[text, ...padding].join(",")}]`)).toBeNull();
        expect(refusal(`[${[text, ...padding, "1"].join(",")}]`)).toContain("JSON values");
      }),
      { numRuns: 20 },
    );
  });
});

describe("half a surrogate pair is refused, a whole one is accepted", () => {
  test.each(["\\ud83d", "\\ud83d\\ud83d", "\\ude00", "\\uD83Dx", "\\ud83d\\n", "\\ud83d\\u0041", "a\\ude00\\ud83d"])(
    "%s",
    (text) => {
      expect(refusal(`{"a":"${text}"}`)).toContain("surrogate");
    },
  );

  test.each(["\\ud83d\\ude00", "\\uD83D\\uDE00", "\\\\ud83d", "\\u00e9", "\\uabcd", "\\ud7ff", "\\ue000", "😀"])("%s", (text) => {
    expect(refusal(`{"a":"${text}"}`)).toBeNull();
  });

  test("every accepted text is well-formed", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const accepted = refusal(JSON.stringify({ text })) === null;
        expect(accepted).toBe(text.isWellFormed());
      }),
    );
  });
});

describe("a body is refused with invalid_request", () => {
  const refused = (body: Uint8Array) => () => parseJsonObject(body);

  test("when the body is not JSON", () => {
    for (const text of ["", "{", '{"a":1,}', "nope", '{"a":"x'])
      expect(refused(bytesOf(text))).toThrow("The request body is not valid JSON");
  });

  test("when the body is not an object", () => {
    for (const text of ["[]", "1", '"text"', "null"]) expect(refused(bytesOf(text))).toThrow("must be a JSON object");
  });

  test("when the body is not UTF-8", () => {
    expect(refused(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toThrow("not valid UTF-8");
  });
});

test("the last of two equal keys counts, and __proto__ is an ordinary key", () => {
  const body = parseJsonObject(bytesOf('{"n":1,"n":2,"__proto__":{"polluted":true}}'));
  expect(body["n"]).toBe(2);
  expect(Object.keys(body)).toEqual(["n", "__proto__"]);
  expect("polluted" in {}).toBe(false);
});

test("8 MiB of brackets are refused without blocking the event loop", () => {
  const brackets = new Uint8Array(8 * 1024 * 1024).fill(0x5b);
  expect(threadMs(() => expect(() => scanJson(brackets)).toThrow("64 levels"), 50)).toBeLessThan(50);
});

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
