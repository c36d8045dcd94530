import { expect, test } from "bun:test";
import fc from "fast-check";
import { compareVersions, readVersion, type KnownVersion, type VersionScheme } from "../../../src/security/versions/version.ts";
import { ecosystems } from "../../../src/security/versions/ecosystem.ts";
import { versionKey, versionToMatch } from "../../../src/security/versions/version-to-match.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

const schemes: VersionScheme[] = ["npm", "PyPI", "Maven", "Go", "crates.io", "RubyGems", "NuGet", "SemVer"];

/** Few pieces, so that drawn versions are often similar. */
const pieces = ["0", "0", "1", "1", "2", "10", "00", "9007199254740993", "9007199254740992"];
const words = [
  "alpha",
  "a",
  "b",
  "rc",
  "cr",
  "RC",
  "snapshot",
  "final",
  "ga",
  "release",
  "sp",
  "foo",
  "Foo",
  "dev",
  "post",
  "pre",
  "x-y",
  "-",
  "c",
];
const piece = fc.constantFrom(...pieces, ...words);
const joint = fc.constantFrom(".", ".", ".", "-", "-", "", "_", "+");
const version = fc
  .tuple(fc.constantFrom("", "v", "1!"), fc.constantFrom(...pieces), fc.array(fc.tuple(joint, piece), { maxLength: 6 }))
  .map(([prefix, first, rest]) => prefix + first + rest.map((pair) => pair.join("")).join(""));

/** A version and others with the same start. */
const alike = fc
  .tuple(version, fc.array(fc.tuple(fc.nat(), joint, piece), { minLength: 2, maxLength: 5 }))
  .map(([base, changes]) => [base, ...changes.map(([at, join, end]) => base.slice(0, (at % base.length) + 1) + join + end)]);

/** Those that the strict ecosystems also have. */
const number = fc.constantFrom("0", "1", "9007199254740993", "9007199254740992");
const identifier = fc.constantFrom("0", "1", "10", "9007199254740993", "a", "A", "alpha", "rc", "x-y", "-");
const semantic = fc
  .tuple(number, number, number, fc.array(identifier, { maxLength: 3 }))
  .map(([major, minor, patch, label]) => `${major}.${minor}.${patch}${label.length === 0 ? "" : `-${label.join(".")}`}`);

const families = fc.oneof(alike, fc.array(semantic, { minLength: 3, maxLength: 5 }));

function known(scheme: VersionScheme, texts: string[]): KnownVersion[] {
  return texts.map((text) => readVersion({ scheme, text })).filter((read) => read.known);
}

test.each(schemes)("the order of %s is total, antisymmetric and transitive, and equal versions have one key", (scheme) => {
  fc.assert(
    fc.property(families, version, (texts, other) => {
      const versions = known(scheme, [...texts, other]);
      for (const a of versions) {
        for (const b of versions) {
          const ab = compareVersions(a, b);
          expect(compareVersions(b, a) + ab).toBe(0);
          expect(a.key === b.key).toBe(ab === 0);
          for (const c of versions)
            if (ab <= 0 && compareVersions(b, c) <= 0) expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test.each(schemes)("a version of %s that is 1,000 characters long is read and compared at once, however it is made", (scheme) => {
  const shapes = ["1", "1.", "1-", "a1", "1a", "-a", "0", "0.", "a", ".0-", "1!", "+1", " ", "1.0-rc", "_"];
  const compareAll = () => {
    for (const shape of shapes) {
      const long = ["", "1.0", "1-", "1+", "1.0-a"].flatMap((head) =>
        ["", "!", "x"].map((tail) => (head + shape.repeat(1_000)).slice(0, 1_000) + tail),
      );
      const versions = known(scheme, long);
      for (const left of versions) for (const right of versions) compareVersions(left, right);
    }
  };
  expect(threadMs(compareAll, 1_500)).toBeLessThan(1_500);
});

test.each(ecosystems)("two versions of %s have one key in findings if and only if they are one version", (ecosystem) => {
  fc.assert(
    fc.property(alike, (texts) => {
      for (const left of texts) {
        for (const right of texts) {
          const [one, other] = [left, right].map((text) =>
            readVersion({ scheme: ecosystem, text: versionToMatch({ ecosystem, version: text, purl: null }) }),
          );
          const isSame = one?.known === true && other?.known === true ? compareVersions(one, other) === 0 : left === right;
          expect([left, right, versionKey({ ecosystem, version: left }) === versionKey({ ecosystem, version: right })]).toEqual([
            left,
            right,
            isSame,
          ]);
        }
      }
    }),
  );
});
