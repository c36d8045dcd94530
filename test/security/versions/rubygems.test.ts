import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const scheme = "RubyGems";

test("gem versions are in the order of Gem::Version: https://docs.ruby-lang.org/en/master/Gem/Version.html", () => {
  expectOrder({ scheme, rows: ["0.9", "1.0.a.2", "1.0.b1", "1.0 1 1.0.0", "1.1.a", "1.1", "1.9", "1.10"] });
});

test("letters make a prerelease, also in the middle and without a dot", () => {
  expectOrder({ scheme, rows: ["1.8.2.a", "1.8.2.a9", "1.8.2.a10", "1.8.2.b 1.8.2b 1.8.2.b.0", "1.8.2", "1.8.2.1"] });
  expectOrder({ scheme, rows: ["5.0.0.beta1.1", "5.0.0.beta2", "5.0.0.rc1", "5.0.0.rc2", "5.0.0.rc10", "5.0.0"] });
});

test("a hyphen means .pre.", () => {
  expectOrder({ scheme, rows: ["1.0.0-alpha 1.0.0.pre.alpha", "1.0.0-1 1.0.0.pre.1 1.pre.1", "1.0.0-2", "1.0.0"] });
});

test("capitals come before small letters", () => {
  expectOrder({ scheme, rows: ["1.0.A", "1.0.B", "1.0.a", "1.0.b", "1.0"] });
});

test("zeros at the end of the numbers and of the whole do not count", () => {
  expectOrder({ scheme, rows: ["1.a.0.b", "1.0.0.a 1.a 1.a.0.0", "1 1.0.0.0.0", "1.0.0.1"] });
});

test("numbers beyond 2^53 compare exactly", () => {
  expectOrder({ scheme, rows: ["1.9007199254740992", "1.9007199254740993", "1.20131221135959135000000000000000000001"] });
});

test("what is no version of a gem is unknown", () => {
  expectUnknown({
    scheme,
    texts: [
      "",
      "v1.0",
      "junk",
      "1..2",
      "1.",
      "1.2 3.4",
      "~> 1.0",
      ">= 1",
      "1.0_1",
      "2.3422222.222.222222222.22222.ads0as.dasd0.ddd2222.2.qd3e.",
    ],
  });
});
