/** The check of regular expressions in `npm run ok` finds all of them and recognises slow ones. */
import { describe, expect, test } from "bun:test";
import { collect, keyOf } from "../../scripts/expressions/collect.ts";
import { problemOf } from "../../scripts/expressions/judge.ts";

describe("expressions are found", () => {
  const found = (text: string) => collect("a.ts", text).expressions.map((one) => `${one.at} ${keyOf(one)}`);

  test.each([
    ["a literal", "const a = 1;\nexport const b = /x+$/i;", ["a.ts:2 /x+$/i"]],
    ["a schema's pattern", 'export const a = Type.String({ pattern: "^\\\\d+$" });', ["a.ts:1 /^\\d+$/"]],
    ["a pattern that is a constant", 'const p = "^a+$";\nexport const a = { pattern: p };', ["a.ts:2 /^a+$/"]],
    ["a pattern that is a literal, once", "export const a = { pattern: /^a$/ };", ["a.ts:1 /^a$/"]],
    ["no division", "export const a = 4 / 2 / 1;", []],
  ])("%s", (_, text, expected) => expect(found(text)).toEqual(expected));

  test("one that is built of constants is found as a whole", () => {
    expect(found('const a = new RegExp([/a/, /b+/].map(({ source }) => source).join(""), "m");')).toEqual(["a.ts:1 /ab+/m"]);
  });

  test("one that is built of other values is not judged: an exception has to say why its input is bounded", () => {
    const { expressions, built } = collect("a.ts", "export const a = (word: string) => new RegExp(word);\n");
    expect([expressions, built]).toEqual([[], [{ text: "new RegExp(word)", at: "a.ts:1" }]]);
  });
});

test("the check distinguishes slow expressions from fast ones", () => {
  const slow = [
    { source: "\\/+$", flags: "" },
    { source: "^\\s*(?:\\[[^\\]]*\\])?\\s*={2}\\s*(\\S+)\\s*\\)?\\s*$", flags: "s" },
    { source: "-arm-aix(?:[.-]?\\w+)*$", flags: "" },
  ];
  const quick = [
    { source: "^\\/+", flags: "" },
    { source: "-arm-aix.*", flags: "s" },
  ];
  expect(slow.map((one) => problemOf(one) === null)).toEqual([false, false, false]);
  expect(quick.map(problemOf)).toEqual([null, null]);
}, 30_000);
