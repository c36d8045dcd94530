import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import { readAffected, type OsvEvent, evaluateAll } from "../../../src/security/versions/osv-range.ts";
import { nearestUnaffected, type Upgrade } from "../../../src/security/versions/nearest-unaffected.ts";
import { compareVersions, readVersion } from "../../../src/security/versions/version.ts";
import { known } from "../../support/security/version-table.ts";

interface Question {
  installed: string;
  /** The events of each record. */
  records: OsvEvent[][];
  ecosystem?: Ecosystem;
  published?: string[];
}

function upgradeOf({ installed, records, ecosystem = "npm", published = [] }: Question): Upgrade {
  const entries = records.map((events) => readAffected({ ecosystem, entry: { ranges: [{ type: "ECOSYSTEM", events }] } }));
  return nearestUnaffected({ installed: readVersion({ scheme: ecosystem, text: installed }), entries, published });
}

const found = (version: string, step: "patch" | "minor" | "major", prerelease = false): Upgrade => ({
  found: true,
  version,
  step,
  prerelease,
});
const trains = [
  { introduced: "1.0.0" },
  { fixed: "1.2.9" },
  { introduced: "1.3.0" },
  { fixed: "1.3.5" },
  { introduced: "2.0.0" },
  { fixed: "2.0.1" },
];

describe("one finding", () => {
  const lines: [string, Upgrade][] = [
    ["1.2.3", found("1.2.9", "patch")],
    ["1.0.0", found("1.2.9", "minor")],
    ["1.3.0", found("1.3.5", "patch")],
    ["2.0.0", found("2.0.1", "patch")],
  ];

  test.each(lines)("%s goes to the nearest fix of its own release line", (installed, upgrade) => {
    expect(upgradeOf({ installed, records: [trains] })).toEqual(upgrade);
  });

  test("a fix in another major version is marked as such", () => {
    expect(upgradeOf({ installed: "1.9.0", records: [[{ introduced: "0" }, { fixed: "2.0.0" }]] })).toEqual(
      found("2.0.0", "major"),
    );
  });

  test("release trains that have names are lines of their own", () => {
    const events = [{ introduced: "Finchley.RELEASE" }, { fixed: "Hoxton.SR9" }];
    const expected = found("Hoxton.SR9", "major");
    expect(upgradeOf({ ecosystem: "Maven", installed: "Greenwich.SR2", records: [events] })).toEqual(expected);
  });

  test("a fix that is affected again by the record is skipped", () => {
    const events = [{ introduced: "0" }, { fixed: "1.0.0" }, { introduced: "1.0.0" }, { fixed: "1.1.0" }];
    expect(upgradeOf({ installed: "0.9.0", records: [events] })).toEqual(found("1.1.0", "major"));
  });

  test("a release is sent to a release, and to a prerelease only where no release is fixed", () => {
    const events = [{ introduced: "0" }, { fixed: "1.3.0-rc.1" }];
    expect(upgradeOf({ installed: "1.2.0", records: [events], published: ["1.2.0", "1.3.0-rc.1", "1.3.0"] })).toEqual(
      found("1.3.0", "minor"),
    );
    expect(upgradeOf({ installed: "1.2.0", records: [events] })).toEqual(found("1.3.0-rc.1", "minor", true));
    expect(upgradeOf({ installed: "1.3.0-beta.1", records: [events], published: ["1.3.0-rc.1", "1.3.0"] })).toEqual(
      found("1.3.0-rc.1", "patch", true),
    );
  });

  test("behind a last affected version a published one is found, and without a list none is made up", () => {
    const events = [{ introduced: "0" }, { last_affected: "1.4.0" }];
    expect(upgradeOf({ installed: "1.2.0", records: [events], published: ["1.4.0", "1.10.0", "1.4.1", "2.0.0"] })).toEqual(
      found("1.4.1", "minor"),
    );
    expect(upgradeOf({ installed: "1.2.0", records: [events] })).toEqual({ found: false, reason: "no_fix_known" });
  });

  test("the published version is named as it is published", () => {
    const events = [{ introduced: "0" }, { fixed: "1.4" }];
    expect(upgradeOf({ ecosystem: "Maven", installed: "1.2", records: [events], published: ["1.4.0.Final"] })).toEqual(
      found("1.4.0.Final", "minor"),
    );
  });

  test("where the published ones hold no fix the record's own is named", () => {
    expect(upgradeOf({ installed: "1.2.3", records: [trains], published: ["1.2.3", "1.2.4"] })).toEqual(found("1.2.9", "patch"));
  });
});

describe("all findings of a component", () => {
  test("the smallest version that clears all is found", () => {
    const records = [[{ introduced: "0" }, { fixed: "1.2.4" }], [{ introduced: "1.2.0" }, { fixed: "1.2.7" }], trains];
    expect(upgradeOf({ installed: "1.2.3", records })).toEqual(found("1.2.9", "patch"));
  });

  test("a fix of one that another affects is not advised", () => {
    const records = [
      [{ introduced: "0" }, { fixed: "1.2.4" }],
      [{ introduced: "1.2.4" }, { fixed: "1.3.0" }],
    ];
    expect(upgradeOf({ installed: "1.2.3", records })).toEqual(found("1.3.0", "minor"));
  });

  test("nothing is advised where one has no fix", () => {
    const records = [[{ introduced: "0" }, { fixed: "1.2.4" }], [{ introduced: "1.0.0" }]];
    expect(upgradeOf({ installed: "1.2.3", records })).toEqual({ found: false, reason: "no_version_clears_all" });
  });
});

describe("a missing answer has a reason", () => {
  const reasons: [string, OsvEvent[], string][] = [
    ["latest", [{ introduced: "0" }, { fixed: "1.0.0" }], "version_unknown"],
    ["1.0.0", [{ introduced: "0" }, { fixed: "1.0.0" }], "not_affected"],
    ["1.0.0", [{ introduced: "0" }], "no_fix_known"],
    ["1.0.0", [{ introduced: "0" }, { fixed: "0.9.0" }, { introduced: "1.0.0" }], "no_fix_known"],
    ["0.9.0", [{ introduced: "0" }, { fixed: "1.0.0" }, { introduced: "1.0.0" }], "no_version_clears_all"],
  ];

  test.each(reasons)("%s under %j", (installed, events, reason) => {
    expect(upgradeOf({ installed, records: [events] })).toEqual({ found: false, reason } as Upgrade);
  });
});

test("what is advised is above the installed version and affected by nothing, and nothing smaller on offer is", () => {
  const part = fc.integer({ min: 0, max: 4 });
  const text = fc
    .tuple(part, part, part, fc.constantFrom("", "", "-rc.1"))
    .map(([major, minor, patch, label]) => `${major}.${minor}.${patch}${label}`);
  const event = fc.oneof(
    text.map((introduced) => ({ introduced })),
    text.map((fixed) => ({ fixed })),
    text.map((last) => ({ last_affected: last })),
  );
  const records = fc.array(
    fc.array(event, { maxLength: 5 }).map((events) => [{ introduced: "0" }, ...events]),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(text, records, fc.array(text, { maxLength: 12 }), (installed, all, published) => {
      const upgrade = upgradeOf({ installed, records: all, published });
      if (!upgrade.found) return;
      const entries = all.map((events) => readAffected({ ecosystem: "npm", entry: { ranges: [{ type: "ECOSYSTEM", events }] } }));
      const clears = (candidate: string) =>
        evaluateAll({ version: known({ scheme: "npm", text: candidate }), entries }).state === "unaffected";
      const above = (left: string, right: string) =>
        compareVersions(known({ scheme: "npm", text: left }), known({ scheme: "npm", text: right })) > 0;
      expect(clears(upgrade.version) && above(upgrade.version, installed)).toBe(true);
      const better = published.filter(
        (one) => above(one, installed) && above(upgrade.version, one) && clears(one) && !one.includes("-"),
      );
      expect(better).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
