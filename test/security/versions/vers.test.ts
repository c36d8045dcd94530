/** Ranges in the words of the vers specification: their bounds, and what cannot be compared. */
import { describe, expect, test } from "bun:test";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import { versConstraintsMax } from "../../../src/security/limits.ts";
import { isInRange, readVersRange } from "../../../src/security/versions/vers.ts";
import { readVersion } from "../../../src/security/versions/version.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

function within(range: string, versions: string, ecosystem: Ecosystem = "npm"): string {
  const read = readVersRange(range, ecosystem);
  if (read === null) return "not comparable";
  return versions
    .split(" ")
    .filter((text) => {
      const version = readVersion({ scheme: ecosystem, text });
      return version.known && isInRange(version, read);
    })
    .join(" ");
}

describe("a range contains exactly the versions that its constraints allow", () => {
  test.each([
    ["vers:npm/1.2.3", "1.2.2 1.2.3 1.2.4", "1.2.3"],
    ["vers:npm/1.2.3|>=2.0.0|<5.0.0", "1.2.3 1.9.9 2.0.0 4.9.9 5.0.0", "1.2.3 2.0.0 4.9.9"],
    ["vers:npm/<5.0.0|>=2.0.0", "1.9.9 2.0.0 5.0.0", "2.0.0"],
    ["vers:npm/>1.0.0|<=2.0.0", "1.0.0 1.0.1 2.0.0 2.0.1", "1.0.1 2.0.0"],
    ["vers:npm/<1.0.0|>=2.0.0|<3.0.0|>4.0.0", "0.9.0 1.0.0 1.5.0 2.0.0 3.0.0 3.5.0 4.0.0 4.0.1", "0.9.0 2.0.0 4.0.1"],
    ["vers:npm/!=1.5.0", "1.4.0 1.5.0", "1.4.0"],
    ["vers:npm/>=1.0.0|!=1.5.0|<2.0.0", "1.4.0 1.5.0 2.0.0", "1.4.0"],
    ["vers:npm/*", "0.0.1 9.0.0", "0.0.1 9.0.0"],
    ["vers:all/*", "0.0.1", "0.0.1"],
    ["vers:generic/>=2.9.0|<=4.1.0", "2.8.0 2.9.0 4.1.0 4.1.1", "2.9.0 4.1.0"],
    ["vers:semver/<1.0.0", "0.9.0 1.0.0-rc.1 1.0.0", "0.9.0 1.0.0-rc.1"],
  ])("%s of %s", (range, versions, expected) => {
    expect(within(range, versions)).toBe(expected);
  });

  test("in each ecosystem's own order", () => {
    expect(within("vers:pypi/>=2.2.0|!= 2.2.1|<2.10", "2.2 2.2.1 2.9 2.10rc1 2.10.0", "PyPI")).toBe("2.2 2.9 2.10rc1");
    expect(within("vers:maven/<=2.0", "2.0-SNAPSHOT 2.0.0 2.0.1", "Maven")).toBe("2.0-SNAPSHOT 2.0.0");
    expect(within("vers:golang/<1.2.0", "v1.1.0 v1.2.0", "Go")).toBe("v1.1.0");
  });
});

test.each([
  ["<=2.0.0"],
  ["vers:pypi/<2.0"],
  ["vers:deb/<2.0"],
  ["vers:npm/"],
  ["vers:npm/|"],
  ["vers:npm/>=one"],
  ["1.0.0 - 2.0.0"],
])("%s has no answer for a version of npm", (range) => {
  expect(within(range, "1.0.0")).toBe("not comparable");
});

const rangeOf = (constraints: number) =>
  `vers:npm/${Array.from({ length: constraints }, (_, index) => `${index % 2 === 0 ? ">=" : "<"}${index}.0.0`).join("|")}`;

test("a range with the most constraints is read and asked a thousand times without blocking the thread; with more it has no answer", () => {
  const range = rangeOf(versConstraintsMax);
  const versions = Array.from({ length: 1_000 }, (_, index) => readVersion({ scheme: "npm", text: `${index}.5.0` }));
  const read = readVersRange(range, "npm");
  expect(read).not.toBeNull();
  expect(readVersRange(rangeOf(versConstraintsMax + 1), "npm")).toBeNull();
  const ask = () => {
    for (const version of versions) if (version.known && read !== null) isInRange(version, read);
  };
  expect(threadMs(() => void readVersRange(range, "npm"), 50)).toBeLessThan(50);
  expect(threadMs(ask, 50)).toBeLessThan(50);
});
