/**
 * One lock file of every format and version, with most of its format's features: test/fixtures/lockfiles has each as a tool writes it,
 * and cases.json what is read from it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface LockCase {
  tells: string;
  path: string;
  text: string;
  /** The texts of other files, by their paths. */
  beside: Record<string, string>;
  expected: { packages: string[]; needs: string[]; purls: string[]; skipped: { name: string; reason: string }[] };
}

const folder = join(import.meta.dir, "../../fixtures/lockfiles");
const textOf = (file: string): string => readFileSync(join(folder, file), "utf8");

/** The fixtures belong to this repository and have this shape. */
const cases = JSON.parse(textOf("cases.json")) as Record<string, Omit<LockCase, "text">>;

export const lockCases: readonly LockCase[] = Object.entries(cases).map(([file, { beside = {}, ...one }]) => ({
  ...one,
  text: textOf(file),
  beside: Object.fromEntries(Object.entries(beside).map(([path, other]) => [path, textOf(other)])),
}));

export const samples = lockCases.map(({ path, text }) => [path, text] as const);
