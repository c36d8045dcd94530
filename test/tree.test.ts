import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import { rules } from "./tree/rules.ts";
import { fakeTree, readTree } from "./tree/tree.ts";

const tree = readTree(dirname(import.meta.dir));

describe("the tree of this repository", () => {
  test.each(rules.map((rule) => [rule.name, rule] as const))("%s", (_, rule) => {
    expect(rule.broken(tree)).toEqual([]);
  });

  test("is read: it has the files that the rules are about", () => {
    expect([...tree.files.keys()]).toContain("src/main.ts");
    expect(tree.files.size).toBeGreaterThan(100);
  });
});

describe("each rule bites", () => {
  const bites = rules.flatMap((rule) => Object.keys(rule.bites).map((path) => [rule.name, path, rule] as const));

  test.each(bites)("%s: %s", (_, path, rule) => {
    expect(rule.broken(fakeTree({ [path]: rule.bites[path] ?? "" })).join("\n")).toContain(path);
  });

  test.each(rules.map((rule) => [rule.name, rule] as const))("%s: and spares what obeys it", (_, rule) => {
    expect(rule.broken(fakeTree(rule.spares))).toEqual([]);
  });
});
