import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const crates = "crates.io";

test("versions of crates.io are semantic: https://doc.rust-lang.org/cargo/reference/manifest.html#the-version-field", () => {
  expectOrder({
    scheme: crates,
    rows: [
      "0.0.0-0",
      "0.0.0-alpha",
      "0.0.0",
      "0.9.9",
      "0.10.0-alpha.2",
      "0.10.0-alpha.11",
      "0.10.0 0.10.0+openssl-3",
      "1 1.0.0 v1.0.0",
    ],
  });
});

test("what is not a version of crates.io is unknown", () => {
  expectUnknown({
    scheme: crates,
    texts: ["", "*", "^1", "1.2.3.4", "1.2.3beta", " 1.2.3"],
  });
});

const npm = "npm";

test("npm versions are ordered by semver.org's section 11", () => {
  expectOrder({ scheme: npm, rows: ["1.0.0", "2.0.0", "2.1.0", "2.1.1"] });
  expectOrder({
    scheme: npm,
    rows: [
      "1.0.0-alpha",
      "1.0.0-alpha.1",
      "1.0.0-alpha.beta",
      "1.0.0-beta",
      "1.0.0-beta.2",
      "1.0.0-beta.11",
      "1.0.0-rc.1",
      "1.0.0",
    ],
  });
});

test("numbers come before words, capitals before small letters, and hyphens belong to words", () => {
  expectOrder({
    scheme: npm,
    rows: ["1.0.0-9", "1.0.0-10", "1.0.0--", "1.0.0-1-", "1.0.0-A", "1.0.0-Z.1", "1.0.0-a", "1.0.0-a-b"],
  });
});

test("builds do not count", () => {
  expectOrder({ scheme: npm, rows: ["1.0.0-rc.1+5 1.0.0-rc.1+exp.sha-5114f85", "1.0.0 1.0.0+001 1.0.0+b"] });
});

test("node's spellings and OSV's short bounds are read: https://github.com/npm/node-semver#versions", () => {
  expectOrder({
    scheme: npm,
    rows: ["1.2.3beta 1.2.3-beta", "1.2.3 v1.2.3 =1.2.3 =v1.2.3 01.02.03", "2.0.0-rc.1 2-rc.1", "2 2.0 2.0.0", "2.1 2.1.0"],
  });
});

test("numbers beyond 2^53 compare exactly", () => {
  expectOrder({
    scheme: npm,
    rows: [
      "1.0.0-9007199254740992",
      "1.0.0-9007199254740993",
      "1.0.0",
      "9007199254740992.0.0",
      "9007199254740993.0.0",
      `1${"0".repeat(200)}.0.0`,
    ],
  });
});

test("what is not a version of npm is unknown", () => {
  expectUnknown({
    scheme: npm,
    texts: [
      "",
      "latest",
      "*",
      "^1.0.0",
      "~1.2",
      ">=1.0.0 <2",
      "1.x",
      "1.2.3.4",
      "1.2.3-",
      "1.2.3_4",
      "file:../a",
      "0.6.0,<1",
      "1..2",
    ],
  });
});

const go = "Go";

test("versions of Go modules are semantic with a v, which OSV records leave out: https://go.dev/ref/mod#versions", () => {
  expectOrder({ scheme: go, rows: ["v0.0.0", "v1.12.134 1.12.134", "v8.0.5-pre 8.0.5-pre", "v8.0.5", "v2000000000.0.0"] });
});

test("+incompatible and builds do not count", () => {
  expectOrder({ scheme: go, rows: ["v2.0.9+incompatible v2.0.9 2.0.9", "v2.0.10+incompatible 2.0.10+meta"] });
});

test("pseudo-versions stand by their base and time: https://go.dev/ref/mod#pseudo-versions", () => {
  expectOrder({
    scheme: go,
    rows: [
      "v0.0.0-20191109021931-daa7c04131f5",
      "v0.0.0-20200101000000-000000000000 0.0.0-20200101000000-000000000000",
      "v0.0.0-20200101000001-000000000000",
      "v0.0.0",
      "v1.2.3-pre.0.20191109021931-daa7c04131f5",
      "v1.2.3",
      "v1.2.4-0.20191109021931-daa7c04131f5",
      "v1.2.4",
    ],
  });
});

test("a bound that is a pseudo-version of 0.0.0 is below every tagged version", () => {
  expectOrder({ scheme: go, rows: ["0.0.0-20200622213623-75b288015ac9", "v0.0.1", "v0.1.0", "v1.0.0", "v2.3.4+incompatible"] });
});

test("releases of Go itself are read by their own names: https://go.dev/doc/toolchain#version", () => {
  expectOrder({
    scheme: go,
    rows: [
      "go1.20 1.20.0 v1.20",
      "go1.21beta1 1.21.0-beta.1",
      "go1.21rc2 1.21rc2 1.21.0-rc.2",
      "go1.21rc10",
      "go1.21.0 go1.21",
      "go1.21.3",
    ],
  });
});

test("what is not a version of a module is unknown", () => {
  expectUnknown({
    scheme: go,
    texts: ["", "(devel)", "devel", "master", "latest", "v1.2.3.4", "daa7c04131f5", "go1.21.3 X:boringcrypto"],
  });
});

const nuget = "NuGet";

test("versions of NuGet have four numbers, of which missing ones are zero", () => {
  // https://learn.microsoft.com/nuget/concepts/package-versioning#normalized-version-numbers
  expectOrder({
    scheme: nuget,
    rows: ["1 1.0 1.0.0 1.0.0.0 1.00 01.0", "1.0.0.1", "1.0.1.0 1.0.1", "1.01.1 1.1.1"],
  });
});

test("prereleases are in NuGet's order, numbers as numbers", () => {
  // https://learn.microsoft.com/nuget/concepts/package-versioning#pre-release-versions
  expectOrder({
    scheme: nuget,
    rows: [
      "1.0.1-aaa",
      "1.0.1-alpha2",
      "1.0.1-beta",
      "1.0.1-open",
      "1.0.1-rc",
      "1.0.1-rc.2",
      "1.0.1-rc.10",
      "1.0.1-zzz",
      "1.0.1",
    ],
  });
});

test("labels compare without regard to case", () => {
  expectOrder({
    scheme: nuget,
    rows: ["1.0.0-Alpha 1.0.0-alpha 1.0-ALPHA", "1.0.0-alpha.1 1.0.0-ALPHA.1", "1.0.0-BETA 1.0.0-beta", "1.0.0"],
  });
});

test("metadata does not count, also behind four numbers", () => {
  expectOrder({ scheme: nuget, rows: ["1.0.0.5-rc.1 1.0.0.5-RC.1+git.abc", "1.0.0.5 1.0.0.5+build", "1.0.0.6"] });
});

test("previews of one release are below it and above the release before", () => {
  expectOrder({
    scheme: nuget,
    rows: [
      "7.0.20",
      "8.0.0-preview.1.23110.8",
      "8.0.0-preview.7.23375.6",
      "8.0.0-rc.1.23419.4",
      "8.0.0-rc.2.23479.6",
      "8.0.0",
      "8.0.1",
    ],
  });
  expectOrder({ scheme: nuget, rows: ["5.0.0-preview.9", "5.0.0-preview.10", "5.0.0-rc.1", "5.0.0"] });
});

test("numbers beyond 32 and 53 bits compare exactly", () => {
  expectOrder({
    scheme: nuget,
    rows: [
      "1.0.0-2147483648",
      "1.0.0-9007199254740993",
      "1.0.0",
      "2147483647.0",
      "2147483648.0",
      "9007199254740992.0",
      "9007199254740993.0",
    ],
  });
});

test("what is not a version of NuGet is unknown", () => {
  expectUnknown({
    scheme: nuget,
    texts: ["", "1.2.3.4.5", "[1.0,2.0)", "1.*", "1.0.0-", "1.0.0-a..b", "1.0.0-a_b", "beta", "1,0"],
  });
});
