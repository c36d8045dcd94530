import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  PackageUrlError,
  type PackageUrlPart,
  parsePackageUrl,
  printPackageUrl,
  type PackageUrl,
} from "../../../src/security/versions/package-url.ts";

/** https://github.com/package-url/purl-spec/blob/main/docs/specification/standard/specification.md */
const canonical: [string, string][] = [
  ["pkg:maven/org.apache.commons/io@1.3.4", "pkg:maven/org.apache.commons/io@1.3.4"],
  ["PKG:Maven/org.apache.commons/io", "pkg:maven/org.apache.commons/io"],
  ["pkg:///maven///org.apache.commons//io///", "pkg:maven/org.apache.commons/io"],
  ["pkg:npm/@angular/animation@12.3.1", "pkg:npm/%40angular/animation@12.3.1"],
  ["pkg:npm/@angular/animation", "pkg:npm/%40angular/animation"],
  ["pkg:npm/a@1.0.0+build.5", "pkg:npm/a@1.0.0%2Bbuild.5"],
  ["pkg:npm/a@1?vcs_url=git://host/x.git%404345", "pkg:npm/a@1?vcs_url=git:%2F%2Fhost%2Fx.git%404345"],
  ["pkg:npm/a?Z=1&b=2&a=&c=3", "pkg:npm/a?b=2&c=3&z=1"],
  ["pkg:npm/a?", "pkg:npm/a"],
  ["pkg:PyPI/Django_Rest.Api@1.0.dev1", "pkg:pypi/django-rest.api@1.0.dev1"],
  ["pkg:golang/github.com/Azure/X@v1.0.0-RC1#/A/./b/../c/", "pkg:golang/github.com/azure/x@v1.0.0-RC1#A/b/c"],
  ["pkg:golang/a/b@feature/x", "pkg:golang/a/b@feature%2Fx"],
  ["pkg:generic/o%C3%BC@1%202?checksum=sha1:ad,sha256:41", "pkg:generic/o%C3%BC@1%202?checksum=sha1:ad%2Csha256:41"],
  ["pkg:gem/x%21%27%28%29%2A~", "pkg:gem/x%21%27%28%29%2A~"],
];

test.each(canonical)("%s has the canonical form %s", (text, form) => {
  expect(printPackageUrl(parsePackageUrl(text))).toBe(form);
  expect(printPackageUrl(parsePackageUrl(form))).toBe(form);
});

const refused: [string, PackageUrlPart][] = [
  ["", "scheme"],
  ["npm/lodash@1", "scheme"],
  ["pkg%3Anpm/lodash", "scheme"],
  ["pkg", "scheme"],
  ["pkg:", "type"],
  ["pkg:npm", "type"],
  ["pkg:lodash@1.0.0", "type"],
  ["pkg:3nginx/nginx", "type"],
  ["pkg:n&g?inx/nginx", "type"],
  ["pkg:nginx:a/nginx", "type"],
  ["pkg:n%70m/a", "type"],
  ["pkg:npm/", "name"],
  ["pkg:npm/@1.0.0", "name"],
  ["pkg:npm/%zz", "name"],
  ["pkg:npm/%ff", "name"],
  ["pkg:npm/a%2Fb/c", "namespace"],
  ["pkg:maven/io@1.3.4", "namespace"],
  ["pkg:pypi/a/b", "namespace"],
  ["pkg:cargo/a/b", "namespace"],
  ["pkg:gem/a/b", "namespace"],
  ["pkg:nuget/a/b", "namespace"],
  ["pkg:npm/a@%", "version"],
  ["pkg:npm/a?in%20production=true", "qualifiers"],
  ["pkg:npm/a?1a=x", "qualifiers"],
  ["pkg:npm/a?key", "qualifiers"],
  ["pkg:npm/a?a=1&A=2", "qualifiers"],
  ["pkg:npm/a?a=%f", "qualifiers"],
  ["pkg:npm/a#b%2Fc", "subpath"],
  ["pkg:npm/a b", "text"],
  ["pkg:npm/ü", "text"],
  ["pkg:npm/a\n", "text"],
];

test.each(refused)("%j is refused for its %s", (text, part) => {
  const parse = () => parsePackageUrl(text);
  expect(parse).toThrow(PackageUrlError);
  expect(parse).toThrow(part === "text" ? "The text" : `The ${part} `);
});

test("a package URL of more than 4,096 characters is refused before it is looked at", () => {
  expect(parsePackageUrl(`pkg:npm/${"a".repeat(4_088)}`).name).toHaveLength(4_088);
  expect(() => parsePackageUrl(`pkg:npm/${"a".repeat(4_089)}`)).toThrow(
    "The text of the package URL is longer than 4096 characters",
  );
});

const word = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((text) => text.isWellFormed());
const segment = word.filter((text) => !text.includes("/") && text !== "." && text !== "..");
const segments = fc.option(fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/")));
const anyUrl: fc.Arbitrary<PackageUrl> = fc.record({
  type: fc.constantFrom("generic", "npm", "x.y-1"),
  namespace: segments,
  name: word,
  version: fc.option(word),
  qualifiers: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9._-]{0,5}$/), word).map((pairs) => new Map(Object.entries(pairs))),
  subpath: segments,
});

test("what is printed is read back the same", () => {
  fc.assert(
    fc.property(anyUrl, (url) => {
      expect(parsePackageUrl(printPackageUrl(url))).toEqual(url);
    }),
    { numRuns: 300 },
  );
});
