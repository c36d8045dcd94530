import { expect, test } from "bun:test";
import {
  ecosystemOfOsvName,
  ecosystemOfPackageUrlType,
  ecosystems,
  packageUrlTypeOf,
  packageKey,
  packageNameOf,
} from "../../../src/security/versions/ecosystem.ts";
import { parsePackageUrl } from "../../../src/security/versions/package-url.ts";

test.each(ecosystems)("%s is found by its name and by the type of its package URLs", (ecosystem) => {
  expect(ecosystemOfOsvName(ecosystem)).toBe(ecosystem);
  expect(ecosystemOfPackageUrlType(packageUrlTypeOf(ecosystem).toUpperCase())).toBe(ecosystem);
});

test("a name's suffix tells a registry or release and does not count", () => {
  expect(ecosystemOfOsvName("Maven:https://maven.google.com")).toBe("Maven");
  expect(["Debian:12", "Root:PyPI", "pypi", ""].map(ecosystemOfOsvName)).toEqual([null, null, null, null]);
});

const same: [string, string, string][] = [
  ["PyPI", "Foo.Bar_-baz", "foo-bar-baz"],
  ["PyPI", "zope.interface", "ZOPE_interface"],
  ["NuGet", "Newtonsoft.Json", "newtonsoft.json"],
];

test.each(same)("in %s %s and %s are one package", (name, left, right) => {
  const ecosystem = ecosystemOfOsvName(name) ?? "npm";
  expect(packageKey({ ecosystem, name: left })).toBe(packageKey({ ecosystem, name: right }));
});

test.each(["npm", "Go", "Maven", "RubyGems", "crates.io"] as const)("in %s case tells packages apart", (ecosystem) => {
  expect(packageKey({ ecosystem, name: "github.com/BurntSushi/toml" })).toBe("github.com/BurntSushi/toml");
});

const named: [string, string, string][] = [
  ["pkg:npm/%40angular/core@1.0.0", "npm", "@angular/core"],
  ["pkg:npm/%40angular%2Fcore@1.0.0", "npm", "@angular/core"],
  ["pkg:npm/lodash", "npm", "lodash"],
  ["pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar", "Maven", "org.apache.logging.log4j:log4j-core"],
  ["pkg:golang/github.com/Azure/go-autorest/v14@v14.2.0#sub", "Go", "github.com/Azure/go-autorest/v14"],
  ["pkg:golang/gopkg.in/yaml.v2", "Go", "gopkg.in/yaml.v2"],
  ["pkg:golang/std@1.21.3", "Go", "stdlib"],
  ["pkg:golang/stdlib@1.21.3", "Go", "stdlib"],
  ["pkg:pypi/Django_Rest@1", "PyPI", "django-rest"],
  ["pkg:cargo/rand_core", "crates.io", "rand_core"],
  ["pkg:gem/rails", "RubyGems", "rails"],
  ["pkg:nuget/Newtonsoft.Json", "NuGet", "Newtonsoft.Json"],
];

test.each(named)("%s is the package of %s that records call %s", (url, ecosystem, name) => {
  expect(packageNameOf(parsePackageUrl(url))).toEqual({ ecosystem: ecosystemOfOsvName(ecosystem) ?? "npm", name });
});

const modules: [string, string, string | null][] = [
  ["github.com/fld/token/v5", "github.com/fld/token@v5.2.1#v5", "github.com/fld/token/v5"],
  ["github.com/fld/token/v5", "github.com/fld/token@v5.2.1#v5", null],
  ["github.com/fld/token/v5", "github.com/fld/token@5.2.1", "github.com/fld/token/v5"],
  ["github.com/fld/token/v5", "github.com/fld/token@v5.0.0-20240101000000-abcdefabcdef#v5", null],
  ["github.com/fld/token/v5", "github.com/fld/token@v5.2.1#v5/parser", "github.com/fld/token"],
  ["github.com/fld/token/parser/v5", "github.com/fld/token@v5.2.1#parser/v5", null],
  ["github.com/Fld/Token/v5", "github.com/fld/token@v5.2.1#v5", "github.com/Fld/Token/v5"],
  ["github.com/fld/token/v12", "github.com/fld/token@v12.0.0#v12", null],
  ["github.com/fld/token", "github.com/fld/token@v1.2.1#v1", "github.com/fld/token/v1"],
  ["github.com/fld/token", "github.com/fld/token@v4.2.1#v5", "github.com/fld/token/v5"],
  ["github.com/fld/token", "github.com/fld/token@v5.2.1+incompatible#v5", "github.com/fld/token"],
  ["github.com/fld/token", "github.com/fld/token@v5.2.1#parser/api", "github.com/fld/token/parser/api"],
  ["github.com/fld/token", "github.com/fld/token#v5", "github.com/fld/token/v5"],
];

test.each(modules)("the Go module is %s where the package URL is %s and the component's name is %j", (name, url, shown) => {
  expect(packageNameOf(parsePackageUrl(`pkg:golang/${url}`), shown)).toEqual({ ecosystem: "Go", name });
});

test("a package URL of another type has no ecosystem here", () => {
  expect(packageNameOf(parsePackageUrl("pkg:deb/debian/curl@7.50.3-1?arch=i386"))).toBeNull();
});
