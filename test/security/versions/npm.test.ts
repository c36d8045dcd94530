import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const scheme = "npm";

test("npm versions are ordered by semver.org's section 11", () => {
  expectOrder({ scheme, rows: ["1.0.0", "2.0.0", "2.1.0", "2.1.1"] });
  expectOrder({
    scheme,
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
  expectOrder({ scheme, rows: ["1.0.0-9", "1.0.0-10", "1.0.0--", "1.0.0-1-", "1.0.0-A", "1.0.0-Z.1", "1.0.0-a", "1.0.0-a-b"] });
});

test("builds do not count", () => {
  expectOrder({ scheme, rows: ["1.0.0-rc.1+5 1.0.0-rc.1+exp.sha-5114f85", "1.0.0 1.0.0+001 1.0.0+b"] });
});

test("node's spellings and OSV's short bounds are read: https://github.com/npm/node-semver#versions", () => {
  expectOrder({
    scheme,
    rows: ["1.2.3beta 1.2.3-beta", "1.2.3 v1.2.3 =1.2.3 =v1.2.3 01.02.03", "2.0.0-rc.1 2-rc.1", "2 2.0 2.0.0", "2.1 2.1.0"],
  });
});

test("numbers beyond 2^53 compare exactly", () => {
  expectOrder({
    scheme,
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

test("what is no version of npm is unknown", () => {
  expectUnknown({
    scheme,
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
