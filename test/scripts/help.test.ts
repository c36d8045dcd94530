import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { partsShown, usage } from "../../bench/help.ts";
import { help } from "../../scripts/bootstrap/help.mjs";

const own = ["weir", "bench", "hostile", "frameworks", "screenshots"];
const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

describe("help", () => {
  test("every npm command has one, with an example that begins with the command", () => {
    const { scripts } = JSON.parse(read("package.json"));
    expect([...Object.keys(help), ...own].toSorted()).toEqual(Object.keys(scripts).toSorted());
    for (const [name, text] of Object.entries(help)) {
      expect(text).toMatch(new RegExp(`^npm (run )?(-s )?${name}\\b`));
      expect(text).toMatch(new RegExp(`Example: .*npm (run )?(-s )?${name}\\b`));
    }
  });

  test("the bench shows every part with the disk that it takes, and what time and downloads cost", () => {
    const [, parts = ""] = /const parts[^]*?= \{\n([^]*?)\n\};/.exec(read("bench/main.ts")) ?? [];
    const named = [...parts.matchAll(/^ {2}async "?([a-z-]+)"?\(/gm)].map(([, name = ""]) => name);
    expect([...partsShown].toSorted()).toEqual(named.toSorted());
    for (const word of ["Time", "Disk", "Downloads", "bench/.data"]) expect(usage).toContain(word);
  });
});
