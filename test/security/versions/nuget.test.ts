import { test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const scheme = "NuGet";

test("versions of NuGet have four numbers, of which missing ones are zero", () => {
  // https://learn.microsoft.com/nuget/concepts/package-versioning#normalized-version-numbers
  expectOrder({
    scheme,
    rows: ["1 1.0 1.0.0 1.0.0.0 1.00 01.0", "1.0.0.1", "1.0.1.0 1.0.1", "1.01.1 1.1.1"],
  });
});

test("prereleases are in NuGet's order, numbers as numbers", () => {
  // https://learn.microsoft.com/nuget/concepts/package-versioning#pre-release-versions
  expectOrder({
    scheme,
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
    scheme,
    rows: ["1.0.0-Alpha 1.0.0-alpha 1.0-ALPHA", "1.0.0-alpha.1 1.0.0-ALPHA.1", "1.0.0-BETA 1.0.0-beta", "1.0.0"],
  });
});

test("metadata does not count, also behind four numbers", () => {
  expectOrder({ scheme, rows: ["1.0.0.5-rc.1 1.0.0.5-RC.1+git.abc", "1.0.0.5 1.0.0.5+build", "1.0.0.6"] });
});

test("previews of one release are below it and above the release before", () => {
  expectOrder({
    scheme,
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
  expectOrder({ scheme, rows: ["5.0.0-preview.9", "5.0.0-preview.10", "5.0.0-rc.1", "5.0.0"] });
});

test("numbers beyond 32 and 53 bits compare exactly", () => {
  expectOrder({
    scheme,
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

test("what is no version of NuGet is unknown", () => {
  expectUnknown({ scheme, texts: ["", "1.2.3.4.5", "[1.0,2.0)", "1.*", "1.0.0-", "1.0.0-a..b", "1.0.0-a_b", "beta", "1,0"] });
});
