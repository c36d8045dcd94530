import { describe, expect, test } from "bun:test";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import {
  readAffected,
  type OsvAffected,
  type OsvEvent,
  evaluate,
  evaluateAll,
  type Verdict,
} from "../../../src/security/versions/osv-range.ts";
import { readVersion } from "../../../src/security/versions/version.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

/** The rules are those of https://ossf.github.io/osv-schema/#evaluation. */
interface Question {
  entry: OsvAffected;
  text: string;
  ecosystem?: Ecosystem;
}

function verdictOf({ entry, text, ecosystem = "npm" }: Question): Verdict {
  return evaluate({ version: readVersion({ scheme: ecosystem, text }), affected: readAffected({ ecosystem, entry }) });
}

const semver = (...events: OsvEvent[]): OsvAffected => ({ ranges: [{ type: "SEMVER", events }] });

/** @returns the comparator, or the state if no range affects the version */
function answer(question: Question): string {
  const verdict = verdictOf(question);
  if (verdict.state !== "affected") return verdict.state;
  return verdict.evidence.range?.comparator ?? `listed ${verdict.evidence.listed}`;
}

function answers(entry: OsvAffected, texts: string[]): string[] {
  return texts.map((text) => answer({ entry, text }));
}

describe("GitHub's last known affected version", () => {
  const known = (lastKnown: string, ...events: OsvEvent[]): OsvAffected => ({ ...semver(...events), lastKnown });

  test.each([
    ["< 15.5.1", "15.5.0", ">= 0, < 15.5.1", "15.5.1"],
    ["<= 15.5.1", "15.5.1", ">= 0, <= 15.5.1", "15.5.2"],
    [" <15.5.1 ", "15.5.0", ">= 0, < 15.5.1", "16.2.1"],
  ])("%j ends an open range", (lastKnown, inside, comparator, outside) => {
    const entry = known(lastKnown, { introduced: "0" });
    expect(answers(entry, [inside, outside])).toEqual([comparator, "unaffected"]);
  });

  test("ends only the open part of a range, and only with a bound that can be read and is in it", () => {
    const two = [{ introduced: "0" }, { fixed: "1.0.0" }, { introduced: "2.0.0" }];
    expect(answers(known("< 3.0.0", ...two), ["0.5.0", "2.5.0", "3.0.0"])).toEqual([
      ">= 0, < 1.0.0",
      ">= 2.0.0, < 3.0.0",
      "unaffected",
    ]);
    expect(answers(known("< 0.5.0", ...two), ["0.5.0", "9.0.0"])).toEqual([">= 0, < 1.0.0", ">= 2.0.0"]);
    expect(answers(known("< 1.0.0", { introduced: "0" }, { fixed: "2.0.0" }), ["1.5.0"])).toEqual([">= 0, < 2.0.0"]);
    for (const broken of ["", "latest", "= 1.0.0", ">= 1, < 2", "< latest"])
      expect(answers(known(broken, { introduced: "0" }), ["9.0.0"])).toEqual([">= 0"]);
  });
});

describe("PyPI versions with a local part", () => {
  const range = (...events: OsvEvent[]): OsvAffected => ({ ranges: [{ type: "ECOSYSTEM", events }] });
  const pypi = (entry: OsvAffected, ...texts: string[]) => texts.map((text) => answer({ entry, text, ecosystem: "PyPI" }));

  test("are within last_affected and a list that name none, as PEP 440 compares them", () => {
    const last = range({ introduced: "2.0" }, { last_affected: "2.1.0" });
    const inside = ">= 2.0, <= 2.1.0";
    expect(pypi(last, "2.1.0+cu118", "2.0+cpu", "2.1.0.post1", "2.1.1+cu118")).toEqual([
      inside,
      inside,
      "unaffected",
      "unaffected",
    ]);
    expect(pypi({ versions: ["2.1.0"] }, "2.1.0+cu118", "2.1+cu118", "2.1.1+cu118")).toEqual([
      "listed 2.1.0",
      "listed 2.1.0",
      "unaffected",
    ]);
  });

  test("are compared whole with a bound or an entry that names one, and are fixed with the version that they were built from", () => {
    const last = range({ introduced: "0" }, { last_affected: "2.1.0+cu117" });
    expect(pypi(last, "2.1.0", "2.1.0+cu117", "2.1.0+cu118")).toEqual([
      ">= 0, <= 2.1.0+cu117",
      ">= 0, <= 2.1.0+cu117",
      "unaffected",
    ]);
    expect(pypi({ versions: ["2.1.0+cu117"] }, "2.1.0", "2.1.0+cu118")).toEqual(["unaffected", "unaffected"]);
    expect(pypi(range({ introduced: "0" }, { fixed: "2.1.0" }), "2.1.0+cu118", "2.0.9+cu118")).toEqual([
      "unaffected",
      ">= 0, < 2.1.0",
    ]);
  });
});

describe("one range", () => {
  test("introduced 0 without an end contains every version, also prereleases of 0.0.0", () => {
    const entry = semver({ introduced: "0" });
    expect(answers(entry, ["0.0.0-0", "0.0.0", "99.0.0"])).toEqual([">= 0", ">= 0", ">= 0"]);
  });

  test("introduced and fixed hold the versions from the one to before the other", () => {
    const entry = semver({ introduced: "1.0.0" }, { fixed: "1.0.2" });
    const inside = ">= 1.0.0, < 1.0.2";
    expect(answers(entry, ["1.0.0-rc.1", "1.0.0", "1.0.2-rc.1", "1.0.2", "2.0.0"])).toEqual([
      "unaffected",
      inside,
      inside,
      "unaffected",
      "unaffected",
    ]);
  });

  test("last_affected holds itself and nothing above", () => {
    const entry = semver({ introduced: "0" }, { last_affected: "1.0.2" });
    expect(answers(entry, ["1.0.1", "1.0.2", "1.0.3-0", "1.0.3"])).toEqual([
      ">= 0, <= 1.0.2",
      ">= 0, <= 1.0.2",
      "unaffected",
      "unaffected",
    ]);
    const one = semver({ introduced: "1.0.2" }, { last_affected: "1.0.2" });
    expect(answers(one, ["1.0.1", "1.0.2", "1.0.3"])).toEqual(["unaffected", ">= 1.0.2, <= 1.0.2", "unaffected"]);
  });

  test("several introductions and fixes alternate, in any written order", () => {
    const events = [{ introduced: "3.0.0" }, { fixed: "1.0.2" }, { introduced: "1.0.0" }, { fixed: "3.2.5" }];
    const expected = ["unaffected", ">= 1.0.0, < 1.0.2", "unaffected", ">= 3.0.0, < 3.2.5", "unaffected"];
    for (const order of [events, events.toReversed()]) {
      expect(answers(semver(...order), ["0.9.0", "1.0.1", "2.9.9", "3.2.4", "3.2.5"])).toEqual(expected);
    }
  });

  test("a fix at the version where it was introduced leaves nothing, and one that begins anew leaves no gap", () => {
    expect(answers(semver({ introduced: "1.0.0" }, { fixed: "1.0.0" }), ["1.0.0", "1.1.0"])).toEqual([
      "unaffected",
      "unaffected",
    ]);
    const anew = semver({ introduced: "0" }, { fixed: "1.0.0" }, { introduced: "1.0.0" }, { fixed: "2.0.0" });
    const expected = [">= 0, < 1.0.0", ">= 1.0.0, < 2.0.0", "unaffected"];
    expect(answers(anew, ["0.9.0", "1.0.0", "2.0.0"])).toEqual(expected);
    // PYSEC-2022-42972 has its two ranges in this order; a stable sort without the tie rule would lose the later one.
    const reversed = semver({ introduced: "1.0.0" }, { fixed: "2.0.0" }, { introduced: "0" }, { fixed: "1.0.0" });
    expect(answers(reversed, ["0.9.0", "1.0.0", "2.0.0"])).toEqual(expected);
    const last = semver({ introduced: "1.0.0" }, { last_affected: "1.0.0" }, { introduced: "0.5.0" }, { last_affected: "0.5.0" });
    expect(answers(last, ["0.5.0", "0.6.0", "1.0.0", "1.0.1"])).toEqual([
      ">= 0.5.0, <= 0.5.0",
      "unaffected",
      ">= 1.0.0, <= 1.0.0",
      "unaffected",
    ]);
  });

  test("introduced twice holds from the first on", () => {
    const entry = semver({ introduced: "1.0.0" }, { introduced: "1.5.0" }, { fixed: "2.0.0" });
    expect(answers(entry, ["1.2.0", "1.6.0", "2.0.0"])).toEqual([">= 1.0.0, < 2.0.0", ">= 1.0.0, < 2.0.0", "unaffected"]);
  });

  test("no version from the limit on is affected; of several limits the highest counts; * means no limit", () => {
    const limited = semver({ introduced: "1.0.0" }, { limit: "1.4.0" }, { limit: "1.2.0" });
    expect(answers(limited, ["1.1.0", "1.3.0", "1.4.0"])).toEqual([">= 1.0.0, < 1.4.0", ">= 1.0.0, < 1.4.0", "unaffected"]);
    const fixed = semver({ introduced: "1.0.0" }, { fixed: "1.2.0" }, { limit: "2.0.0" });
    expect(answers(fixed, ["1.1.0", "1.2.0"])).toEqual([">= 1.0.0, < 1.2.0", "unaffected"]);
    const before = semver({ introduced: "1.0.0" }, { fixed: "3.0.0" }, { limit: "2.0.0" });
    expect(answers(before, ["1.1.0", "2.1.0"])).toEqual([">= 1.0.0, < 2.0.0", "unaffected"]);
    const unlimited = semver({ introduced: "1.0.0" }, { limit: "*" }, { fixed: "1.2.0" });
    expect(answers(unlimited, ["1.1.0", "1.2.0"])).toEqual([">= 1.0.0, < 1.2.0", "unaffected"]);
    expect(answers(semver({ introduced: "1.0.0" }, { limit: "*" }), ["9.0.0"])).toEqual([">= 1.0.0"]);
  });

  test("no introduction holds nothing", () => {
    expect(answers(semver({ fixed: "1.0.0" }), ["0.9.0", "1.0.0"])).toEqual(["unaffected", "unaffected"]);
    expect(answers(semver(), ["1.0.0"])).toEqual(["unaffected"]);
  });
});

describe("several ranges and the list", () => {
  const entry: OsvAffected = {
    versions: ["0.1.0", "5.0.0", "nightly"],
    ranges: [
      { type: "GIT", events: [{ introduced: "0" }, { fixed: "8f3a" }] },
      { type: "SEMVER", events: [{ introduced: "1.0.0" }, { fixed: "1.2.0" }] },
      { type: "SEMVER", events: [{ introduced: "2.0.0" }, { fixed: "2.2.0" }] },
    ],
  };

  test("any range suffices and is named by its place, and ranges of commits are passed over", () => {
    const affected = (index: number, comparator: string) =>
      ({ state: "affected", evidence: { listed: null, range: { index, comparator } } }) as const;
    expect(verdictOf({ entry, text: "1.1.0" })).toEqual(affected(1, ">= 1.0.0, < 1.2.0"));
    expect(verdictOf({ entry, text: "2.1.0" })).toEqual(affected(2, ">= 2.0.0, < 2.2.0"));
    expect(verdictOf({ entry, text: "3.0.0" })).toEqual({ state: "unaffected" });
  });

  test("the list holds versions outside all ranges, spelled otherwise or not readable too", () => {
    expect(answers(entry, ["5.0.0", "v5.0.0", "nightly"])).toEqual(["listed 5.0.0", "listed 5.0.0", "listed nightly"]);
  });

  test("a version that is listed and in a range is reported in both ways", () => {
    const both: OsvAffected = { ...entry, versions: ["1.1.0"] };
    const evidence = { listed: "1.1.0", range: { index: 1, comparator: ">= 1.0.0, < 1.2.0" } };
    expect(verdictOf({ entry: both, text: "v1.1.0" })).toEqual({ state: "affected", evidence });
  });

  test("with an entry of commits and a list, other versions are unaffected", () => {
    const listed: OsvAffected = { versions: ["1.0.0"], ranges: [{ type: "GIT", events: [{ introduced: "0" }] }] };
    expect(answers(listed, ["1.0.0", "1.0.1"])).toEqual(["listed 1.0.0", "unaffected"]);
  });

  test("an entry with neither decides nothing", () => {
    expect(answers({}, ["1.0.0"])).toEqual(["unaffected"]);
  });

  test("several entries of one package are one answer: affected before unknown before unaffected", () => {
    const [clean, unknown, hit] = [
      semver({ introduced: "9.0.0" }),
      semver({ introduced: "?" }),
      semver({ introduced: "1.0.0" }),
    ].map((one) => readAffected({ ecosystem: "npm", entry: one }));
    if (!clean || !unknown || !hit) throw new Error("An entry is missing");
    const version = readVersion({ scheme: "npm", text: "1.0.0" });
    expect(evaluateAll({ version, entries: [clean, unknown, hit] }).state).toBe("affected");
    expect(evaluateAll({ version, entries: [clean, unknown] }).state).toBe("unknown");
    expect(evaluateAll({ version, entries: [clean] }).state).toBe("unaffected");
  });
});

describe("unknown", () => {
  test("a version that cannot be read is unknown to any range, also to the one that holds all", () => {
    const verdict = verdictOf({ entry: semver({ introduced: "0" }), text: "latest" });
    expect(verdict).toEqual({ state: "unknown", reason: '"latest" is not a version of npm' });
  });

  test("an invalid bound makes its range unknown, and a range that contains the version takes precedence", () => {
    const unreadable = { type: "SEMVER", events: [{ introduced: "0" }, { fixed: "0.6.0,<1" }] };
    expect(verdictOf({ entry: { ranges: [unreadable] }, text: "1.0.0" })).toEqual({
      state: "unknown",
      reason: `the range's bound "0.6.0,<1" is not a version of npm`,
    });
    const entry = { ranges: [unreadable, { type: "SEMVER", events: [{ introduced: "1.0.0" }] }] };
    expect(answers(entry, ["1.0.0", "0.9.0"])).toEqual([">= 1.0.0", "unknown"]);
  });

  test("an event with two kinds or without one is invalid and makes its range unknown", () => {
    expect(answers(semver({ introduced: "1.0.0", fixed: "1.0.2" }), ["1.0.1"])).toEqual(["unknown"]);
    expect(answers(semver({ introduced: "1.0.0" }, {}), ["1.0.1"])).toEqual(["unknown"]);
  });

  test("a version of 10,000 characters is unknown at once", () => {
    const judging = () => {
      const verdict = verdictOf({ entry: semver({ introduced: "0" }), text: `1.2.3-${"a".repeat(10_000)}` });
      expect(verdict).toEqual({ state: "unknown", reason: `"1.2.3-${"a".repeat(34)}…" is longer than 1024 characters` });
    };
    expect(threadMs(judging, 50)).toBeLessThan(50);
  });
});

describe("orders", () => {
  test("a range of type ECOSYSTEM goes by the ecosystem's own order, and one of type SEMVER by Semantic Versioning", () => {
    const events = [{ introduced: "0" }, { fixed: "1.0.0.1" }];
    expect(answer({ ecosystem: "NuGet", entry: { ranges: [{ type: "ECOSYSTEM", events }] }, text: "1.0.0" })).toBe(
      ">= 0, < 1.0.0.1",
    );
    expect(answer({ ecosystem: "NuGet", entry: { ranges: [{ type: "SEMVER", events }] }, text: "1.0.0" })).toBe("unknown");
    const labels = [{ introduced: "1.0.0-B" }, { fixed: "1.0.0-a" }];
    expect(answer({ ecosystem: "NuGet", entry: { ranges: [{ type: "SEMVER", events: labels }] }, text: "1.0.0-C" })).toBe(
      ">= 1.0.0-B, < 1.0.0-a",
    );
    expect(answer({ ecosystem: "NuGet", entry: { ranges: [{ type: "ECOSYSTEM", events: labels }] }, text: "1.0.0-C" })).toBe(
      ">= 1.0.0-B",
    );
  });

  const spellings: [Ecosystem, string, OsvEvent[], string][] = [
    ["Go", "v1.9.0+incompatible", [{ introduced: "0" }, { fixed: "1.9.1" }], ">= 0, < 1.9.1"],
    ["Go", "v1.9.1+incompatible", [{ introduced: "0" }, { fixed: "1.9.1" }], "unaffected"],
    ["Go", "v0.1.0", [{ introduced: "0" }, { fixed: "0.0.0-20200622213623-75b288015ac9" }], "unaffected"],
    [
      "Go",
      "v0.0.0-20190308221718-c2843e01d9a2",
      [{ introduced: "0" }, { fixed: "0.0.0-20200622213623-75b288015ac9" }],
      ">= 0, < 0.0.0-20200622213623-75b288015ac9",
    ],
    ["PyPI", "24.7.0", [{ introduced: "0" }, { fixed: "24.7.0rc1" }], "unaffected"],
    ["PyPI", "24.7.0-RC1", [{ introduced: "0" }, { fixed: "24.7.0" }], ">= 0, < 24.7.0"],
    [
      "NuGet",
      "8.0.0-Preview.7.23375.6",
      [{ introduced: "8.0.0-preview.1" }, { fixed: "8.0.0-rc.1" }],
      ">= 8.0.0-preview.1, < 8.0.0-rc.1",
    ],
    ["Maven", "5.2.0.M3", [{ introduced: "5.2.0.M1" }, { fixed: "5.2.0.RELEASE" }], ">= 5.2.0.M1, < 5.2.0.RELEASE"],
    ["Maven", "5.2.0", [{ introduced: "5.2.0.M1" }, { fixed: "5.2.0.RELEASE" }], "unaffected"],
    ["Maven", "r18", [{ introduced: "r2" }], ">= r2"],
    ["Maven", "0", [{ introduced: "0" }], ">= 0"],
    ["RubyGems", "5.0.0.beta2", [{ introduced: "5.0.0.beta1" }, { fixed: "5.0.0" }], ">= 5.0.0.beta1, < 5.0.0"],
    ["crates.io", "0.10.0-alpha.2", [{ introduced: "0.0.0-0" }, { fixed: "0.10.0" }], ">= 0.0.0-0, < 0.10.0"],
  ];

  test.each(spellings)("%s %s against its range", (ecosystem, text, events, expected) => {
    const type = ecosystem === "Go" || ecosystem === "crates.io" ? "SEMVER" : "ECOSYSTEM";
    expect(answer({ ecosystem, entry: { ranges: [{ type, events }] }, text })).toBe(expected);
  });
});
