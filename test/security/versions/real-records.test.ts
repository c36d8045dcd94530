/** The ranges of real records compared with their listed versions; WEIR_TEST_DATA names the folder of the records. */
import { describe, expect, test } from "bun:test";
import type { AffectedPackage } from "../../../src/security/advisories/advisory.ts";
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import { readAffected, type OsvAffected, evaluate } from "../../../src/security/versions/osv-range.ts";
import { nearestUnaffected } from "../../../src/security/versions/nearest-unaffected.ts";
import { compareVersions, readVersion, type KnownVersion } from "../../../src/security/versions/version.ts";
import { readArchive } from "../../support/security/advisories.ts";
import { testData } from "../../support/test-data.ts";

interface Entry {
  id: string;
  name: string;
  ecosystem: Ecosystem;
  entry: AffectedPackage;
}

const archives = ["golang-vulndb-osv.tar.gz", "pypa-advisories-a-to-m.tar.gz"].map(testData);
const absent = archives.includes(null);
const entries = absent ? [] : await entriesOf(archives.filter((path) => path !== null));

async function entriesOf(paths: string[]): Promise<Entry[]> {
  const readings = (await Promise.all(paths.map((path) => readArchive(path)))).flat();
  const advisories = readings.flatMap((reading) => ("advisory" in reading ? [reading.advisory] : []));
  return advisories.flatMap(({ id, affected }) =>
    affected.flatMap((entry) => {
      const { ecosystem = null, name = "" } = entry.package ?? {};
      return ecosystem === null ? [] : [{ id, name, ecosystem, entry }];
    }),
  );
}

describe.skipIf(absent)("real records (WEIR_TEST_DATA)", () => {
  test("the ranges without the lists find at least 99.9 % of the listed versions", () => {
    const misses: string[] = [];
    let listed = 0;
    for (const { id, name, ecosystem, entry } of entries) {
      const ranges = entry.ranges.filter(({ type }) => type !== "GIT");
      if (ranges.length === 0) continue;
      const affected = readAffected({ ecosystem, entry: { ranges } });
      for (const text of entry.versions) {
        listed++;
        const verdict = evaluate({ version: readVersion({ scheme: ecosystem, text }), affected });
        if (verdict.state !== "affected")
          misses.push(`${id} ${name} ${text}: ${causeOf({ ecosystem, text, entry: { ranges } })}`);
      }
    }
    console.log(`${listed - misses.length} of ${listed} listed versions are inside the ranges; outside:\n${misses.join("\n")}`);
    expect(listed).toBeGreaterThan(10_000);
    expect(misses.length / listed).toBeLessThan(0.001);
  });

  test("every version that a record introduces an issue in is affected, and every one that it names as fixed only is not", () => {
    const wrong: string[] = [];
    let bounds = 0;
    for (const { id, ecosystem, entry } of entries) {
      const affected = readAffected({ ecosystem, entry: { ranges: entry.ranges } });
      const events = affected.ranges.flatMap((range) =>
        range.readable ? range.events : [{ kind: "unreadable", text: range.reason }],
      );
      const begins = new Set(events.filter(({ kind }) => kind === "introduced").map(({ text }) => text));
      for (const { kind, text } of events.filter((event) => event.text !== "0")) {
        if (kind === "fixed" && begins.has(text)) continue;
        const { state } = evaluate({ version: readVersion({ scheme: ecosystem, text }), affected });
        if (state !== (kind === "introduced" || kind === "last_affected" ? "affected" : "unaffected"))
          wrong.push(`${id} ${kind} ${text}: ${state}`);
        bounds++;
      }
    }
    expect(bounds).toBeGreaterThan(5_000);
    expect(wrong).toEqual([]);
  });

  test("no record lists a version that is advised to go to", () => {
    const wrong: string[] = [];
    const found = { advised: 0, none: 0 };
    for (const records of Map.groupBy(entries, ({ ecosystem, name }) => `${ecosystem} ${name}`).values()) {
      const affected = records.map(({ ecosystem, entry }) => readAffected({ ecosystem, entry }));
      const lists = new Set(records.flatMap(({ entry }) => entry.versions));
      for (const { id, ecosystem, entry } of records) {
        const text = entry.versions.at(-1) ?? lowestOf(entry);
        const upgrade = nearestUnaffected({ installed: readVersion({ scheme: ecosystem, text }), entries: affected });
        found[upgrade.found ? "advised" : "none"]++;
        if (upgrade.found && lists.has(upgrade.version)) wrong.push(`${id} ${text} to ${upgrade.version}`);
      }
    }
    console.log(`${found.advised} upgrades are advised, for ${found.none} no version is known that clears all`);
    expect(found.advised).toBeGreaterThan(1_000);
    expect(wrong).toEqual([]);
  }, 30_000);
});

/** The first version that introduces the record's issue, or one that is minimal in all ecosystems. */
function lowestOf({ ranges }: AffectedPackage): string {
  const introduced = ranges.flatMap(({ events }) => events.flatMap((event) => ("introduced" in event ? [event.introduced] : [])));
  return introduced.find((text) => text !== "0") ?? "0.0.0";
}

/** Known faults of the records: where a listed version contradicts the ranges. */
function causeOf({ ecosystem, text, entry }: { ecosystem: Ecosystem; text: string; entry: OsvAffected }): string {
  const version = readVersion({ scheme: ecosystem, text });
  if (!version.known) return "the record lists a text that is no version";
  const beside = (entry.ranges ?? []).flatMap(({ events }) => events.flatMap((event) => Object.values(event)));
  const { lower, upper } = boundsAround({ version, bounds: beside });
  return `the record lists it, but it lies between ${lower} and ${upper}, which the ranges leave out`;
}

function boundsAround({ version, bounds }: { version: KnownVersion; bounds: string[] }): { lower: string; upper: string } {
  const known = bounds.map((text) => readVersion({ scheme: version.scheme, text })).filter((bound) => bound.known);
  const sorted = known.toSorted(compareVersions);
  const lower = sorted.findLast((bound) => compareVersions(bound, version) <= 0)?.text ?? "the first version";
  const upper = sorted.find((bound) => compareVersions(bound, version) > 0)?.text ?? "the last version";
  return { lower, upper };
}
