/** The check of regular expressions in `npm run ok` finds all of them and recognises slow ones. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { collect, evaluated, keyOf } from "../../scripts/expressions/collect.ts";
import { judge } from "../../scripts/expressions/judge.ts";

const folder = mkdtempSync(join(tmpdir(), "weir-expressions-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("expressions are found", () => {
  const found = (text: string) => collect("a.ts", text).expressions.map((one) => `${one.at} ${keyOf(one)}`);

  test.each([
    ["a literal", "const a = 1;\nexport const b = /x+$/i;", ["a.ts:2 /x+$/i"]],
    ["a schema's pattern", 'export const a = Type.String({ pattern: "^\\\\d+$" });', ["a.ts:1 /^\\d+$/"]],
    ["a pattern that is a constant", 'const p = "^a+$";\nexport const a = { pattern: p };', ["a.ts:2 /^a+$/"]],
    ["a pattern that is a literal, once", "export const a = { pattern: /^a$/ };", ["a.ts:1 /^a$/"]],
    ["no division", "export const a = 4 / 2 / 1;", []],
  ])("%s", (_, text, expected) => expect(found(text)).toEqual(expected));

  test("the check evaluates an expression that its module builds on import", async () => {
    const text = 'const end = "$";\nexport const a = new RegExp(`\\\\s+${end}`, "m");\n';
    writeFileSync(join(folder, "made.ts"), text);
    const { made } = collect("made.ts", text);
    expect(made.map(({ line }) => line)).toEqual([2]);
    expect((await evaluated(folder, made[0] ?? { path: "", line: 0, text: "" })).map(keyOf)).toEqual(["/\\s+$/m"]);
  });

  test("the check does not find an expression that is built only at run time; a person has to judge it", async () => {
    const text = "export const a = (word: string) => new RegExp(word);\n";
    writeFileSync(join(folder, "later.ts"), text);
    const [made = { path: "", line: 0, text: "" }] = collect("later.ts", text).made;
    expect(await evaluated(folder, made)).toEqual([]);
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
  const judgements = judge([...slow, ...quick].map((one) => ({ ...one, at: "here" })));
  expect(slow.map((one) => judgements.get(keyOf(one))?.safe)).toEqual([false, false, false]);
  expect(quick.map((one) => judgements.get(keyOf(one))?.safe)).toEqual([true, true]);
});
