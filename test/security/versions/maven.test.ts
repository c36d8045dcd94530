import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

/** Rules and examples: https://maven.apache.org/pom.html#version-order-specification */
const scheme = "Maven";

test("numbers are padded with zero, and trailing nulls do not count", () => {
  expectOrder({ scheme, rows: ["1 1.0 1.0.0 1.ga 1-ga 1-0 1. 1- 1.final 1-final 1.release 1.0.0-0.0.0 1.GA", "1.0.1", "1.1"] });
  expectOrder({ scheme, rows: ["1-foo 1.0.0-foo.0.0 1-foo-0 1.0-foo", "1.0.1-foo"] });
});

test("qualifiers are ordered regardless of case", () => {
  expectOrder({
    scheme,
    rows: [
      "1-alpha 1-ALPHA",
      "1-alpha-1 1-a1 1.0-alpha1 1.0-ALPHA1",
      "1-alpha-2",
      "1-beta",
      "1-beta-1 1-b1 1b1",
      "1-milestone",
      "1-milestone-1 1-m1 1-M1",
      "1-rc 1-cr",
      "1-rc-1 1-CR1",
      "1-snapshot 1-SNAPSHOT",
      "1 1-final",
      "1-sp",
      "1-sp-1",
      "1-a",
      "1-b",
      "1-foo",
      "1-1",
      "1.1",
    ],
  });
});

test("the examples of the specification hold", () => {
  expectOrder({ scheme, rows: ["1-foo2", "1-foo10"] });
  expectOrder({ scheme, rows: ["1.foo", "1-foo", "1-1", "1.1"] });
  expectOrder({ scheme, rows: ["1-ga.1", "1-sp.1"] });
  expectOrder({ scheme, rows: ["1-sp-1", "1-ga-1 1-1"] });
  expectOrder({ scheme, rows: ["1.K", "1.7"] });
  expectOrder({ scheme, rows: ["5.aardvark", "5.zebra"] });
  expectOrder({ scheme, rows: ["1.b", "1.α"] });
});

test("splits at dots, hyphens and between digits and letters: 1-1.foo-bar1baz-.1", () => {
  expectOrder({ scheme, rows: ["1-1.foo-bar1baz-.1 1-1.foo-bar-1-baz-0.1", "1-1.foo-bar1baz-.2"] });
});

test("numbers after a qualifier are numbers", () => {
  expectOrder({ scheme, rows: ["r2", "r05 r5", "r18"] });
  expectOrder({
    scheme,
    rows: ["4.0.0.Alpha1", "4.0.0.Alpha10", "4.0.0.Beta2", "4.0.0.CR1 4.0.0.RC1", "4.0.0.Final", "4.0.1.Final"],
  });
});

test("milestones and candidates come before .RELEASE, which is the release", () => {
  expectOrder({
    scheme,
    rows: [
      "5.2.0.M1 5.2.0.MILESTONE-1",
      "5.2.0.M2",
      "5.2.0.RC1",
      "5.2.0.SNAPSHOT",
      "5.2.0.RELEASE 5.2.0 5.2",
      "5.2.0.SP1",
      "5.2.1.RELEASE",
    ],
  });
  expectOrder({
    scheme,
    rows: ["Finchley.SR1", "Greenwich.SR2", "Hoxton.M1", "Hoxton.RC1", "Hoxton.RELEASE Hoxton", "Hoxton.SR1", "2020.0.0"],
  });
});

test("other qualifiers come after the release, so a rebuild is not taken for a prerelease", () => {
  expectOrder({ scheme, rows: ["31.1", "31.1-android", "31.1-jre", "31.1.1", "32.0.0-android"] });
  expectOrder({ scheme, rows: ["4.1.108.Final", "4.1.108.Final-redhat-00001", "4.1.108.Final-redhat-00002", "4.1.109.Final"] });
});

test("the version 0 is a version", () => {
  expectOrder({ scheme, rows: ["0-alpha", "0 0.0", "0.1", "1"] });
});

test("no circle runs through the release: what is before it is before all that is after it", () => {
  expectOrder({
    scheme,
    rows: ["1.alpha", "1-alpha", "1.0.alpha", "1.0.0.beta", "1", "1.foo", "1-foo", "1-1", "1.0.foo", "1.0.1-beta", "1.0.1"],
  });
});

/** https://issues.apache.org/jira/browse/MNG-7644, fixed in Maven 3.8.7 and 3.9.0 */
test("a prerelease behind a dot comes before the release and its rebuilds, as since MNG-7644", () => {
  expectOrder({ scheme, rows: ["2.9.0-RC2", "2.9.0.Beta1", "2.9.0.RC1", "2.9.0", "2.9.0-1"] });
  expectOrder({ scheme, rows: ["1.1.0.Beta1", "1.1.0", "1.1.0-01-glassfish", "1.1.0.1"] });
  expectOrder({ scheme, rows: ["1.0.0.RC7-3", "1.0.0", "1.0.0-gradle-rework-beta3"] });
});

test("at one place a qualifier behind a dot comes before one behind a hyphen, as the tools of OSV have it", () => {
  expectOrder({ scheme, rows: ["1.5.9.RC1", "1.5.9-RC0", "1.5.9"] });
  expectOrder({ scheme, rows: ["1.1.31", "1.1.31.sec10", "1.1.31_noneautotype", "1.1.32"] });
});

test("numbers beyond 2^53 and 2^63 compare exactly", () => {
  expectOrder({
    scheme,
    rows: ["1.9007199254740992", "1.9007199254740993", "1.18446744073709551616", "1.18446744073709551617", "20190126230843.1"],
  });
});

test("what a build leaves in place of a version is unknown", () => {
  expectUnknown({
    scheme,
    texts: ["", "${project.version}", "[1.0,2.0)", "1.0,2.0", "LATEST", "RELEASE", "unspecified", "1.0 beta", "a/b"],
  });
});
