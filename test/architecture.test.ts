import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { rules } from "./architecture/rules.ts";
import { fakeSourceTree, readSourceTree } from "./architecture/source-tree.ts";

const tree = readSourceTree(dirname(import.meta.dir));

describe("the architecture", () => {
  test.each(rules.map((rule) => [rule.name, rule] as const))("%s", (_, rule) => {
    expect(rule.violations(tree)).toEqual([]);
  });

  test("the source tree holds the files that the rules are about", () => {
    expect([...tree.files.keys()]).toContain("src/main.ts");
    expect(tree.files.size).toBeGreaterThan(100);
  });
});

describe("each rule finds its violations", () => {
  const cases = rules.flatMap((rule) => Object.keys(rule.invalid).map((path) => [rule.name, path, rule] as const));

  test.each(cases)("%s: %s breaks it", (_, path, rule) => {
    const files = { ...rule.invalidWith, [path]: rule.invalid[path] ?? "" };
    expect(rule.violations(fakeSourceTree(files)).join("\n")).toContain(path);
  });

  test.each(rules.map((rule) => [rule.name, rule] as const))("%s: a file that obeys passes", (_, rule) => {
    expect(rule.violations(fakeSourceTree(rule.valid))).toEqual([]);
  });
});
