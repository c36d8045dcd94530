import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");
const patches = readdirSync(import.meta.dir).filter((name) => name.endsWith(".patch"));

describe("the known mistakes", () => {
  test("the thirty mistakes have patches", () => {
    const numbers = new Set(patches.map((name) => Number(name.slice(0, 2))));
    expect([...numbers].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  test.each(patches)("%s names its mistake and the test that catches it, and applies", (name) => {
    const [, file] =
      /^Mistake: .+\nCaught by: (?:simulation|test (\S+))\n/.exec(readFileSync(join(import.meta.dir, name), "utf8")) ?? [];
    if (file !== undefined) expect(existsSync(join(root, file))).toBe(true);
    const checked = Bun.spawnSync(["git", "apply", "--check", join(import.meta.dir, name)], { cwd: root });
    expect(checked.stderr.toString()).toBe("");
    expect(checked.exitCode).toBe(0);
  });
});
