/** docs/reference/inference.md matches the code, and test/specification.md names a test for each statement of the specification. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { withTables } from "../../../scripts/inference-tables.ts";

const root = join(import.meta.dir, "../../..");
const page = readFileSync(join(root, "docs/reference/inference.md"), "utf8");
const specification = readFileSync(join(root, "test/specification.md"), "utf8");

/** The cells of the rows of all tables of test/specification.md whose head begins with these columns. */
function rowsBelow(...head: string[]): string[][] {
  const tables = specification.split(/\n(?=\n)/).map((part) =>
    part
      .trim()
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map((line) =>
        line
          .split("|")
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );
  return tables.filter(([first]) => head.every((name, column) => first?.[column] === name)).flatMap(([, , ...rows]) => rows);
}

const code = (text: string): string => text.replace(/^`(.*)`$/, "$1");

describe("docs/reference/inference.md", () => {
  test("the page has the tables that scripts/inference-tables.ts writes", () => {
    expect(page.match(/^<!-- Made by scripts\/inference-tables\.ts/gm)).toHaveLength(11);
    expect(withTables(page)).toBe(page);
  });

  test("the page has the four safety rules of the specification", () => {
    const rules = page.split("Four rules keep credit safe:")[1]?.split("##")[0] ?? "";
    for (const words of ["keys on servers", "one key for each application and environment", "spend limit on every key"]) {
      expect(rules).toContain(words);
    }
    expect(rules).toContain("Revoke and replace a key");
    expect(rules.match(/^\d\. /gm)).toHaveLength(4);
  });
});

describe("the statements of the specification", () => {
  const statements = rowsBelow("id", "statement", "held by");

  test("each statement has an id of its own and a text", () => {
    expect(statements.length).toBeGreaterThan(100);
    const ids = statements.map(([id]) => id ?? "");
    expect(ids.filter((id, index) => !/^[a-z]+-\d+$/.test(id) || ids.indexOf(id) !== index)).toEqual([]);
    expect(statements.filter(([, words = ""]) => words.length < 15)).toEqual([]);
  });

  test("each statement names tests that exist", () => {
    const files = statements.map(([id = "", , tests = ""]) => ({ id, files: tests.split(" ").map(code) }));
    expect(
      files.flatMap(({ id, files: named }) => named.filter((file) => !isTest(file)).map((file) => `${id}: ${file}`)),
    ).toEqual([]);
  });

  function isTest(file: string): boolean {
    return /^test\/.+\.ts$/.test(file) && existsSync(join(root, file)) && /\btest\b/.test(readFileSync(join(root, file), "utf8"));
  }
});
