import { expect, test } from "bun:test";
import fc from "fast-check";
import { lockFormatOf, lockFormats } from "../../../src/security/lockfiles/formats.ts";
import { readLockFiles } from "../../../src/security/lockfiles/read-lock-files.ts";
import { repositoryBom } from "../../../src/security/lockfiles/repository-bom.ts";
import { samples } from "./samples.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

/** A range is removed, repeated, or replaced by a text with a meaning in one of the formats. */
const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(40),
  insert: fc.oneof(
    fc.string({ maxLength: 12, unit: "binary" }),
    fc.constantFrom(
      "{",
      "[",
      '"',
      "'",
      "\\",
      "\n",
      "\n  ",
      "\t",
      "null",
      "@",
      "${version}",
      "__proto__",
      "0",
      "<!--",
      "<a ",
      "=>",
      "(",
      "- ",
      ": ",
      "#",
      "&x ",
      "*x",
      "!!js/function ",
      "]]]",
      ",}",
      "/*",
      "//",
      "-r ",
      "\u0000",
    ),
  ),
  twice: fc.boolean(),
});

function mutated(text: string, changes: { at: number; length: number; insert: string; twice: boolean }[]): string {
  return changes.reduce((before, { at, length, insert, twice }) => {
    const start = Math.floor(at * before.length);
    const taken = before.slice(start, start + length);
    return before.slice(0, start) + insert + (twice ? taken + taken : "") + before.slice(start + length);
  }, text);
}

test("every format has a sample, which is read", () => {
  expect(lockFormats.filter((format) => samples.every(([path]) => lockFormatOf(path) !== format))).toEqual([]);
  for (const [path, text] of samples) {
    const { read, failed } = readLockFiles([{ path, bytes: new TextEncoder().encode(text) }]);
    expect({ path, failed, packages: read[0]?.packages.length }).toEqual({ path, failed: [], packages: expect.any(Number) });
    expect(read[0]?.packages).not.toEqual([]);
  }
});

test("every mutation of a lock file is read or refused with a sentence, quickly, and the result gives a document", () => {
  const cases = fc.tuple(fc.constantFrom(...samples), fc.array(mutation, { minLength: 1, maxLength: 4 }));
  fc.assert(
    fc.property(cases, ([[path, text], changes]) => {
      const bytes = new TextEncoder().encode(mutated(text, changes));
      const reading = () => {
        const { read, failed } = readLockFiles([{ path, bytes }]);
        expect(read.length + failed.length).toBe(1);
        for (const { reason } of failed) expect(reason).toMatch(/^\S.{3,}/);
        const { components } = repositoryBom({ name: "r", files: read, notRead: [] }).document;
        expect(components.length).toBe(read.flatMap(({ packages }) => packages).length + read.length);
      };
      expect(threadMs(reading, 1_000)).toBeLessThan(1_000);
    }),
    { numRuns: 600 },
  );
});

test("large files of one repeated piece end quickly", () => {
  const pieces = [
    "[",
    "{",
    '{"a":',
    "a@1,",
    '"',
    "<a>",
    "<!--",
    "[[a]]\n",
    "a = [",
    "- - ",
    "a: {",
    "(",
    "a==1 # via b\n",
    "    # via\n",
    "\\\n",
    "&a ",
    "${a}",
    " ",
    "\n",
    "a:b:c=d\n",
    "[a.b]\n",
    "-r a.txt\n",
    "-c b.txt\n",
    "{,",
    "/*",
    '"a/',
    "coding:",
  ];
  for (const [path] of samples) {
    for (const piece of pieces) {
      const bytes = new TextEncoder().encode(piece.repeat(60_000 / piece.length));
      const reading = () => {
        const { read, failed } = readLockFiles([{ path, bytes }]);
        expect(read.length + failed.length).toBe(1);
      };
      expect(threadMs(reading, 2_000)).toBeLessThan(2_000);
    }
  }
}, 30_000);
