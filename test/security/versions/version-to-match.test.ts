/** The version of a component that is compared with advisories. */
import { expect, test } from "bun:test";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import { versionKey, versionToMatch } from "../../../src/security/versions/version-to-match.ts";

const table: [ecosystem: Ecosystem, version: string, purl: string | null, expected: string][] = [
  ["RubyGems", "1.16.0-x86_64-linux", "pkg:gem/nokogiri@1.16.0-x86_64-linux", "1.16.0"],
  ["RubyGems", "1.16.0", "pkg:gem/nokogiri@1.16.0?platform=x86_64-linux", "1.16.0"],
  ["RubyGems", "1.16.0-x86_64-linux-gnu", null, "1.16.0"],
  ["RubyGems", "1.16.0-aarch64-linux-musl", null, "1.16.0"],
  ["RubyGems", "1.16.0-arm64-darwin", null, "1.16.0"],
  ["RubyGems", "1.16.0-x86_64-darwin-22", null, "1.16.0"],
  ["RubyGems", "1.16.0-x64-mingw-ucrt", null, "1.16.0"],
  ["RubyGems", "1.16.0-x64-mingw32", null, "1.16.0"],
  ["RubyGems", "1.16.0-x86-mswin32-60", null, "1.16.0"],
  ["RubyGems", "1.16.0-java", "pkg:gem/nokogiri@1.16.0-java?platform=java", "1.16.0"],
  ["RubyGems", "1.16.0-own-platform", "pkg:gem/a@1.16.0-own-platform?platform=own-platform", "1.16.0"],
  ["RubyGems", "1.16.0.rc1-java", null, "1.16.0.rc1"],
  ["RubyGems", "1.0-beta", null, "1.0-beta"],
  ["RubyGems", "1.0.0", "pkg:gem/a", "1.0.0"],
  ["npm", "1.0.0-java", "pkg:npm/a@1.0.0-java", "1.0.0-java"],
  ["npm", "v1", "pkg:npm/a@1.2.3", "1.2.3"],
  ["npm", "1.2.3", "not a package URL", "1.2.3"],
  ["Go", "v1.2.3", "pkg:golang/a/b@v1.2.3", "v1.2.3"],
];

test.each(table)("%s %s of %s is matched as %s", (ecosystem, version, purl, expected) => {
  expect(versionToMatch({ ecosystem, version, purl })).toBe(expected);
});

const keys: [ecosystem: Ecosystem, spellings: (string | null)[], key: string][] = [
  ["Go", ["v1.4.0", "1.4.0", "v1.4.0+incompatible"], "1.4"],
  ["Go", ["go1.21.0", "1.21.0"], "1.21"],
  ["PyPI", ["1.0", "1.0.0", "v1"], "1"],
  ["Maven", ["1.0", "1.0.0", "1.0.Final", "1-ga"], "1"],
  ["NuGet", ["1.0", "1.0.0.0", "1.0.0+sha"], "1"],
  ["RubyGems", ["1.16.0-x86_64-linux", "1.16.0-arm64-darwin", "1.16"], "1.16"],
  ["npm", ["4.17.20", "v4.17.20"], "4.17.20"],
  ["crates.io", ["1.2.3+a", "1.2.3"], "1.2.3"],
  ["npm", [null, ""], ""],
  ["npm", ["latest"], "latest"],
];

test.each(keys)("in %s %j are one version", (ecosystem, spellings, key) => {
  expect(spellings.map((version) => versionKey({ ecosystem, version }))).toEqual(spellings.map(() => key));
});
