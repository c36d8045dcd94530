import { describe, expect, test } from "bun:test";
import { isNotOlder } from "../../../src/security/advisories/advisory.ts";
import { readAdvisory } from "../../../src/security/advisories/read-advisory.ts";
import { osvRecord } from "../../support/security/advisories.ts";

const range = { type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.2.0" }] };

describe("an OSV record", () => {
  test("is read with all data that later steps need", () => {
    const advisory = readAdvisory({
      schema_version: "1.7.4",
      id: "GO-2026-0001",
      modified: "2026-11-20T10:00:00.123456Z",
      published: "2026-11-19T10:00:00Z",
      aliases: ["CVE-2026-0001"],
      upstream: ["DSA-1"],
      related: ["CVE-2026-0002"],
      summary: "short",
      details: "long",
      severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H" }],
      affected: [
        {
          package: { ecosystem: "Go", name: "example.com/Pkg", purl: "pkg:golang/example.com/Pkg" },
          ranges: [{ ...range, database_specific: { source: "here" } }],
          versions: ["1.1.0"],
          ecosystem_specific: { custom_ranges: [] },
          database_specific: { url: "there" },
        },
      ],
      references: [{ type: "FIX", url: "https://example.com" }],
      credits: [{ name: "Ada", type: "FINDER" }],
      database_specific: { review_status: "REVIEWED" },
    });
    expect(advisory).toMatchObject({
      id: "GO-2026-0001",
      schemaVersion: "1.7.4",
      modified: "2026-11-20T10:00:00.123456Z",
      withdrawn: null,
      aliases: ["CVE-2026-0001"],
      upstream: ["DSA-1"],
      related: ["CVE-2026-0002"],
      references: [{ type: "FIX", url: "https://example.com" }],
      credits: [{ name: "Ada", contact: [], type: "FINDER" }],
      databaseSpecific: { review_status: "REVIEWED" },
    });
    expect(advisory.affected[0]).toMatchObject({
      package: { ecosystem: "Go", ecosystemName: "Go", name: "example.com/Pkg", purl: "pkg:golang/example.com/Pkg" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "1.2.0" }], databaseSpecific: { source: "here" } }],
      versions: ["1.1.0"],
      ecosystemSpecific: { custom_ranges: [] },
      databaseSpecific: { url: "there" },
    });
  });

  test("may have unknown fields, and null for absent fields", () => {
    const record = osvRecord("X-1", {
      aliases: null,
      affected: [{ package: null, ranges: null, later: 1 }],
      withdrawn: null,
      later: {},
    });
    expect(readAdvisory(record)).toMatchObject({ aliases: [], affected: [{ package: null, ranges: [] }], withdrawn: null });
  });

  test("has no duplicate alias in any spelling, and never its own id", () => {
    const record = osvRecord("GHSA-2222-3333-4444", { aliases: ["cve-2026-0001", "CVE-2026-0001", "ghsa-2222-3333-4444"] });
    expect(readAdvisory(record).aliases).toEqual(["CVE-2026-0001"]);
  });

  test.each([
    ["Maven:https://maven.google.com", "Maven"],
    ["crates.io", "crates.io"],
    ["Debian:12", null],
  ])("of the ecosystem %s is one of %p", (name, ecosystem) => {
    const record = osvRecord("X-1", { affected: [{ package: { ecosystem: name, name: "p" } }] });
    expect(readAdvisory(record).affected[0]?.package).toMatchObject({ ecosystem, ecosystemName: name });
  });

  test("has null for any optional field as if it were absent, and its database's own content as it is", () => {
    const whole = {
      package: { ecosystem: "npm", name: "a" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }] }],
      database_specific: { kept: null },
    };
    const sparse = {
      ...whole,
      severity: null,
      versions: null,
      ecosystem_specific: null,
      package: { ...whole.package, purl: null },
      ranges: [{ ...whole.ranges[0], repo: null, database_specific: null, events: [{ introduced: "0", fixed: null }] }],
    };
    const written = osvRecord("X-1", {
      affected: [sparse],
      aliases: null,
      references: null,
      credits: [{ name: "n", contact: null }],
    });
    expect(readAdvisory(written)).toEqual(readAdvisory(osvRecord("X-1", { affected: [whole], credits: [{ name: "n" }] })));
    expect(readAdvisory(written).affected[0]?.databaseSpecific).toEqual({ kept: null });
  });

  test.each([
    ["2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00Z"],
    ["2026-01-01T00:30:00.123456789+0200", "2025-12-31T22:30:00.123456789Z"],
    ["2026-01-01T00:00:00.5", "2026-01-01T00:00:00.5Z"],
    ["2026-01-01T00:00:00.500Z", "2026-01-01T00:00:00.500Z"],
  ])("has the time %s in UTC", (written, utc) => {
    const times = { modified: written, published: written, withdrawn: written };
    expect(readAdvisory(osvRecord("X-1", times))).toMatchObject({ modified: utc, published: utc, withdrawn: utc });
  });

  test("of another 1.x version of the format is read", () => {
    expect(readAdvisory(osvRecord("X-1", { schema_version: "1.99.0" })).schemaVersion).toBe("1.99.0");
    expect(readAdvisory(osvRecord("X-1")).schemaVersion).toBe("1.0.0");
  });
});

describe("an invalid record is refused with the place and the fault", () => {
  const affected = (entry: unknown) => osvRecord("X-1", { affected: [{}, entry] });
  test.each([
    [[], "The record must be an object, and is a list of 0 entries"],
    ["text", 'The record must be an object, and is "text"'],
    [{ modified: "2026-01-01T00:00:00Z" }, '"id" is missing; it must be an id of 1 to 128 characters without spaces'],
    [osvRecord("a b"), '"id" must be an id of 1 to 128 characters without spaces, and is "a b"'],
    [osvRecord("X".repeat(129)), '"id" must be an id of 1 to 128 characters without spaces, and is a string of 129 characters'],
    [
      osvRecord("X-1", { modified: "yesterday" }),
      '"modified" must be a time in UTC such as "2026-11-20T10:00:00Z", and is "yesterday"',
    ],
    [osvRecord("X-1", { modified: null }), '"modified" is missing; it must be a time in UTC such as "2026-11-20T10:00:00Z"'],
    [
      osvRecord("X-1", { published: "2026-02-30T00:00:00Z" }),
      '"published" is "2026-02-30T00:00:00Z", which is not a date of the calendar',
    ],
    [
      osvRecord("X-1", { modified: "2026-01-01T00:00:00+99:00" }),
      '"modified" is "2026-01-01T00:00:00+99:00", which is not a date of the calendar',
    ],
    [osvRecord("X-1", { aliases: "CVE-1" }), '"aliases" must be a list of at most 1000 entries, and is "CVE-1"'],
    [
      osvRecord("X-1", { aliases: ["A-1", 7] }),
      '"aliases[1]" must be an id of 1 to 128 characters without spaces, and is the number 7',
    ],
    [
      affected({ versions: ["1.0", 1.1] }),
      '"affected[1].versions[1]" must be a version of 1 to 1024 characters, as a string, and is the number 1.1',
    ],
    [
      affected({ ranges: [{ ...range, type: "NPM" }] }),
      '"affected[1].ranges[0].type" must be "SEMVER", "ECOSYSTEM" or "GIT", and is "NPM"',
    ],
    [
      affected({ ranges: [{ type: "SEMVER", events: [{ fixed: "1" }] }] }),
      '"affected[1].ranges[0].events" has no event "introduced", so the range has no beginning',
    ],
    [
      affected({ ranges: [{ type: "SEMVER", events: [{ introduced: "0", fixed: "1" }] }] }),
      '"affected[1].ranges[0].events[0]" must have exactly one of introduced, fixed, last_affected and limit, and has 2',
    ],
    [
      affected({ ranges: [{ type: "GIT", events: [{ introduced: "0" }] }] }),
      '"affected[1].ranges[0].repo" is missing, and a GIT range needs it',
    ],
    [
      affected({ package: { name: "p" } }),
      '"affected[1].package.ecosystem" is missing; it must be a name of 1 to 1024 characters',
    ],
    [osvRecord("X-1", { details: "a\0b" }), '"details" has the character U+0000, which cannot be stored'],
    [
      osvRecord("X-1", { database_specific: { notes: ["\ud83d"] } }),
      '"database_specific.notes[0]" has half a surrogate pair, which is not a character',
    ],
    [
      affected({ versions: ["1".repeat(10_000)] }),
      '"affected[1].versions[0]" must be a version of 1 to 1024 characters, as a string, and is a string of 10000 characters',
    ],
  ])("%#: %j", (record, sentence) => {
    expect(() => readAdvisory(record)).toThrow(sentence);
  });
});

describe("a record replaces the stored one only when its modified is not older", () => {
  test.each([
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", true],
    ["2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00Z", true],
    ["2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.10Z", true],
    ["2026-01-01T00:00:00.123456788Z", "2026-01-01T00:00:00.123456789Z", false],
    ["2025-12-31T23:59:59.9Z", "2026-01-01T00:00:00Z", false],
  ])("%s replaces %s: %p", (candidate, stored, replaces) => {
    expect(isNotOlder({ candidate, stored })).toBe(replaces);
  });
});
