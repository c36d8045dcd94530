/** Matches of components and records, which depend only on package and version. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { matchComponent, type Component, type PackageIssue } from "../../../../src/security/findings/scan/match.ts";
import { adviceForAll } from "../../../../src/security/findings/details/remediation.ts";
import { type Ecosystem, packageNameOf, packageIdentity } from "../../../../src/security/versions/ecosystem.ts";
import { readAffected, type OsvAffected, evaluateAll } from "../../../../src/security/versions/osv-range.ts";
import { parsePackageUrl } from "../../../../src/security/versions/package-url.ts";
import { storedVersion } from "../../../../src/security/versions/version-to-match.ts";
import { readVersion } from "../../../../src/security/versions/version.ts";

function issueOf(ecosystem: Ecosystem, entries: Record<string, OsvAffected>): PackageIssue {
  return {
    vulnerability: 1n,
    rank: 0,
    entries: Object.entries(entries).map(([source, entry]) => {
      return { source, entry, affected: readAffected({ ecosystem, entry }), customRanges: null };
    }),
  };
}

function componentOf(ecosystem: Ecosystem, version: string | null): Component {
  return { package: 1n, ecosystem, version, name: "x", purl: null };
}

function between(introduced: string, fixed: string): OsvAffected {
  return { ranges: [{ type: "ECOSYSTEM", events: [{ introduced }, { fixed }] }] };
}

describe("a match", () => {
  test("uses a gem's version without its platform, and shows both", () => {
    const gem = (version: string, purl: string | null) =>
      matchComponent({ ...componentOf("RubyGems", version), purl }, [
        issueOf("RubyGems", { "OSV-1": between("1.15.0", "1.16.2") }),
      ]);
    for (const [version, purl] of [
      ["1.16.0-x86_64-linux", "pkg:gem/x@1.16.0-x86_64-linux"],
      ["1.16.0", "pkg:gem/x@1.16.0?platform=x86_64-linux"],
      ["1.16.0-arm64-darwin", null],
    ] as const) {
      expect(gem(version, purl).matches).toMatchObject([{ version, fixVersion: "1.16.2" }]);
    }
    expect(gem("1.16.2-x86_64-linux", null)).toEqual({ matches: [], unknowns: [] });
  });

  const npm = (version: string | null, entries: Record<string, OsvAffected>) =>
    matchComponent(componentOf("npm", version), [issueOf("npm", entries)]);

  test("has the range as the record writes it, and the part that contains the version", () => {
    const events = [{ introduced: "0" }, { fixed: "1.5.0" }, { introduced: "2.0.0" }, { last_affected: "2.3.0" }];
    const { matches } = npm("2.1.0", { "OSV-1": { ranges: [{ type: "SEMVER", events }] } });
    expect(matches).toMatchObject([
      {
        fixVersion: null,
        evidence: {
          source: "OSV-1",
          range: "introduced 0, fixed 1.5.0, introduced 2.0.0, last_affected 2.3.0",
          comparator: ">= 2.0.0, <= 2.3.0",
          sources: 1,
        },
      },
    ]);
  });

  test("of an open range says where GitHub's last known affected version narrows it, which is no fix", () => {
    const entry = { ranges: [{ type: "SEMVER", events: [{ introduced: "0" }] }], lastKnown: "< 15.5.1" };
    const said = { range: "introduced 0, last known affected < 15.5.1", comparator: ">= 0, < 15.5.1" };
    expect(npm("15.0.0", { "OSV-1": entry }).matches).toMatchObject([{ fixVersion: null, evidence: said }]);
    expect(npm("16.2.1", { "OSV-1": entry })).toEqual({ matches: [], unknowns: [] });
  });

  test("has the range and the list of a record with both, and names another record with a range first", () => {
    const both = { ...between("0", "2.0.0"), versions: ["1.0", "1.1"] };
    const said = { range: "introduced 0, fixed 2.0.0", comparator: ">= 0, < 2.0.0" };
    expect(npm("1.1", { "OSV-1": both }).matches).toMatchObject([{ evidence: { source: "OSV-1", ...said, listed: "1.1" } }]);
    const { matches } = npm("1.1", { "OSV-1": { versions: ["1.1"] }, "OSV-2": between("0", "2.0.0") });
    expect(matches).toMatchObject([
      { evidence: { source: "OSV-2", ...said, listed: null, more: [{ source: "OSV-1", range: null, listed: "1.1" }] } },
    ]);
  });

  test("prefers a fix on its own release line", () => {
    const { matches } = npm("1.2.0", { "OSV-1": between("0", "1.2.9"), "OSV-2": between("1.0.0", "1.2.8") });
    expect(matches[0]?.fixVersion).toBe("1.2.9");
  });

  test("names at most twenty further sources, and counts all", () => {
    const entries = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`OSV-${index}`, between("0", "2.0.0")]));
    const [match] = npm("1.0.0", entries).matches;
    expect([match?.evidence.more.length, match?.evidence.sources]).toEqual([20, 50]);
  });

  test("cuts the text of a range with ten thousand events", () => {
    const events = Array.from({ length: 5_000 }, (_, index) => [
      { introduced: `${index}.0.0` },
      { fixed: `${index}.5.0` },
    ]).flat();
    const [match] = npm("7.1.0", { "OSV-1": { ranges: [{ type: "SEMVER", events }] } }).matches;
    expect(match?.evidence.range?.length).toBeLessThanOrEqual(201);
    expect(match?.evidence.comparator).toBe(">= 7.0.0, < 7.5.0");
  });

  test("needs one record, even when another one cannot be compared", () => {
    const broken = between("abc", "def");
    const { matches, unknowns } = npm("1.0.0", { "OSV-1": broken, "OSV-2": between("0", "2.0.0") });
    expect([matches.length, unknowns.length]).toEqual([1, 0]);
    expect(npm("3.0.0", { "OSV-1": broken, "OSV-2": between("0", "2.0.0") }).unknowns).toMatchObject([
      { reason: 'OSV-1: the range\'s bound "abc" is not a version of npm' },
    ]);
  });

  test.each([
    [null, "OSV-1: the document names no version"],
    ["latest", 'OSV-1: "latest" is not a version of npm'],
    ["1".repeat(10_000), `OSV-1: "${"1".repeat(40)}…" is longer than 1024 characters`],
  ])("is not possible for an unreadable version: %#", (version, reason) => {
    for (const entry of [between("0", "2.0.0"), { versions: ["1.0.0"] }]) {
      const { matches, unknowns } = npm(version, { "OSV-1": entry });
      expect([matches, unknowns.map((one) => one.reason)]).toEqual([[], [reason]]);
    }
  });

  test("is possible for an unreadable version that a record lists", () => {
    const { matches } = npm("latest", { "OSV-1": { versions: ["latest"] } });
    expect(matches).toMatchObject([{ version: "latest", fixVersion: null, evidence: { listed: "latest", comparator: null } }]);
  });
});

test("versions of any length have keys of limited length, and different versions have different keys", () => {
  const long = ["x".repeat(10_000), `${"x".repeat(9_999)}y`, "é".repeat(10_000), "😀".repeat(5_000)];
  const keys = long.map(storedVersion);
  expect(new Set(keys).size).toBe(long.length);
  expect(keys.every((key) => key.isWellFormed() && Buffer.byteLength(key) <= 1_024)).toBe(true);
  expect([storedVersion(null), storedVersion("1.0.0"), storedVersion("1".repeat(1_024))]).toEqual([
    "",
    "1.0.0",
    "1".repeat(1_024),
  ]);
});

describe("findings are the same for every spelling", () => {
  /** Letters in either case, and other runs of the separators that PyPI treats as equal. */
  const respelled = (name: string) =>
    fc
      .tuple(
        fc.array(fc.boolean(), { minLength: name.length, maxLength: name.length }),
        fc.array(fc.constantFrom("-", "_", ".", "-_", "..", "_.-"), { minLength: 3, maxLength: 3 }),
      )
      .map(([upper, runs]) =>
        [...name]
          .map((letter, index) => (letter === "-" ? (runs[index % 3] ?? "-") : upper[index] ? letter.toUpperCase() : letter))
          .join(""),
      );
  const encoded = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((chosen) =>
        [...text]
          .map((letter, index) => (chosen[index] && letter !== "/" ? `%${letter.charCodeAt(0).toString(16)}` : letter))
          .join(""),
      );
  const identityOf = (purl: string) => {
    const { version, ...parsed } = parsePackageUrl(purl);
    const name = packageNameOf({ version, ...parsed });
    if (name === null || version === null) throw new Error(`No package: ${purl}`);
    const [match] = matchComponent(componentOf(name.ecosystem, version), [
      issueOf(name.ecosystem, { "OSV-1": between("1.0.0", "1.2.4") }),
    ]).matches;
    return [packageIdentity(name), match?.evidence.comparator];
  };

  test("of a name: case and separators at PyPI, case at NuGet", () => {
    fc.assert(
      fc.property(respelled("zope-interface-x"), (name) => {
        expect(identityOf(`pkg:pypi/${name}@1.2.3`)).toEqual(identityOf("pkg:pypi/zope-interface-x@1.2.3"));
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(respelled("newtonsoftjson"), (name) => {
        expect(identityOf(`pkg:nuget/${name}@1.2.3`)).toEqual(identityOf("pkg:nuget/newtonsoftjson@1.2.3"));
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["npm", "@scope/name", "pkg:npm/%40scope/name@1.2.3"],
    ["npm", "name", "pkg:npm/name@1.2.3"],
    ["golang", "example.com/some/module", "pkg:golang/example.com/some/module@v1.2.3"],
    ["maven", "org.example/artifact", "pkg:maven/org.example/artifact@1.2.3"],
    ["cargo", "some_crate", "pkg:cargo/some_crate@1.2.3"],
    ["gem", "some-gem", "pkg:gem/some-gem@1.2.3"],
  ])("of a package URL of %s with percent-encoded letters", (type, name, plain) => {
    fc.assert(
      fc.property(encoded(name.replaceAll("@", "")), (spelled) => {
        const scoped = name.startsWith("@") ? `%40${spelled}` : spelled;
        expect(identityOf(`pkg:${type}/${scoped}@1.2.3`)).toEqual(identityOf(plain));
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ["Go", ["1.2.3", "v1.2.3", "v1.2.3+incompatible", "1.2.3+incompatible"]],
    ["npm", ["1.2.3", "v1.2.3", "=1.2.3", "1.2.3+build.7"]],
    ["PyPI", ["1.2.3", "v1.2.3", "V1.2.3", "1.2.3.0", "1.2.3+local"]],
    ["NuGet", ["1.2.3", "1.2.3.0", "1.2.3+build", "1.02.3"]],
    ["Maven", ["1.2.3", "1.2.3.Final", "1.2.3-GA", "1.2.3.0"]],
    ["RubyGems", ["1.2.3", "1.2.3.0"]],
    ["crates.io", ["1.2.3", "1.2.3+build"]],
  ] as const)("of a version of %s", (ecosystem, spellings) => {
    for (const version of spellings) {
      for (const entry of [between("1.2.3", "1.2.4"), between("1.0.0", "1.2.4")]) {
        const { matches } = matchComponent(componentOf(ecosystem, version), [issueOf(ecosystem, { "OSV-1": entry })]);
        expect([version, matches.length]).toEqual([version, 1]);
      }
    }
  });
});

describe("the recommended version", () => {
  const version = fc
    .tuple(fc.nat(3), fc.nat(4), fc.nat(4), fc.boolean())
    .map(([a, b, c, rc]) => `${a}.${b}.${c}${rc ? "-rc.1" : ""}`);
  const range = fc
    .tuple(fc.constantFrom("introduced", "zero"), version, fc.constantFrom("fixed", "last_affected", "none"), version)
    .map(([start, from, end, to]): NonNullable<OsvAffected["ranges"]>[number] => ({
      type: "SEMVER",
      events: [
        { introduced: start === "zero" ? "0" : from },
        ...(end === "none" ? [] : [end === "fixed" ? { fixed: to } : { last_affected: to }]),
      ],
    }));
  const entry = fc.record({ ranges: fc.array(range, { maxLength: 3 }), versions: fc.array(version, { maxLength: 3 }) });
  const issues = fc.array(fc.array(entry, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 });

  test("has no known issue and is later than the installed one", () => {
    fc.assert(
      fc.property(version, issues, (installed, all) => {
        const known = all.map((entries) =>
          issueOf("npm", Object.fromEntries(entries.map((one, index) => [`OSV-${index}`, one]))),
        );
        const { matches } = matchComponent(componentOf("npm", installed), known);
        for (const [index, issue] of known.entries()) {
          const single = matchComponent(componentOf("npm", installed), [issue]).matches[0]?.fixVersion ?? null;
          if (single !== null) expect([index, stateOf(single, [issue])]).toEqual([index, "unaffected"]);
        }
        const { version: advised } = adviceForAll({ ecosystem: "npm", version: installed, purl: null }, known);
        if (advised === null) return;
        expect(matches.length).toBeGreaterThan(0);
        expect(stateOf(advised, known)).toBe("unaffected");
      }),
      { numRuns: 400 },
    );
  });

  function stateOf(text: string, known: PackageIssue[]): string {
    const entries = known.flatMap((issue) => issue.entries.map(({ affected }) => affected));
    return evaluateAll({ version: readVersion({ scheme: "npm", text }), entries }).state;
  }
});
