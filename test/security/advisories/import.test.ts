/** Imported records, and the issues that an import derives from them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readAffected, evaluate } from "../../../src/security/versions/osv-range.ts";
import { readVersion } from "../../../src/security/versions/version.ts";
import { osvRecord } from "../../support/security/advisories.ts";
import { about, AdvisoryStore, mediumVector, scored } from "../../support/security/advisory-store.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

const emptied = "packages, advisories, vulnerabilities, findings, triages";

describe.each(databases)("an import on $name", ({ open, runsAll }) => {
  let database: TestDatabase;
  let store: AdvisoryStore;
  beforeAll(async () => {
    database = await open();
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    await database.sql.unsafe(`TRUNCATE ${emptied} CASCADE`);
    store = new AdvisoryStore(database.sql);
  });
  const modifiedOf = async (id: string) =>
    (await database.sql`SELECT modified, record ->> 'summary' AS summary FROM advisories WHERE id = ${id}`)[0];
  const counts = ({ imported, unchanged, failures }: Awaited<ReturnType<AdvisoryStore["take"]>>) => [
    imported,
    unchanged,
    failures.length,
  ];

  test("importing the same records again changes nothing, in any order of their fields", async () => {
    const record = about("GHSA-aaaa-bbbb-cccc", { summary: "A", aliases: ["CVE-2026-0001"] });
    expect(counts(await store.take(record))).toEqual([1, 0, 0]);
    const before = await store.issues();
    expect(counts(await store.take(Object.fromEntries(Object.entries(record).toReversed())))).toEqual([0, 1, 0]);
    expect(await store.issues()).toEqual(before);
  });

  if (!runsAll) return;

  test("an older record never replaces a newer one, and a record of the same time does", async () => {
    const at = (modified: string, summary: string) => ({ ...about("OSV-1"), modified, summary });
    await store.take(at("2026-01-02T00:00:00.5Z", "second"));
    expect(counts(await store.take(at("2026-01-02T00:00:00.499999999Z", "first")))).toEqual([0, 1, 0]);
    expect(await modifiedOf("OSV-1")).toMatchObject({ summary: "second" });
    expect(counts(await store.take(at("2026-01-02T00:00:00.500Z", "third")))).toEqual([1, 0, 0]);
    expect(await modifiedOf("OSV-1")).toEqual({ modified: "2026-01-02T00:00:00.500Z", summary: "third" });
  });

  test("the newer one of two states of a record in a batch is stored", async () => {
    const at = (modified: string) => ({ ...about("OSV-1"), modified });
    expect(counts(await store.take(at("2026-01-03T00:00:00Z"), at("2026-01-02T00:00:00Z")))).toEqual([1, 1, 0]);
    expect(await modifiedOf("OSV-1")).toMatchObject({ modified: "2026-01-03T00:00:00Z" });
  });

  test("invalid records are reported by their indexes, and the others are imported", async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`);
    const bad = [null, "text", { id: "OSV-2" }, about("OSV-3", { summary: "a\0b" }), about("OSV-4", { database_specific: deep })];
    const outcome = await store.take(about("OSV-1"), ...bad, about("OSV-5"));
    expect(counts(outcome)).toEqual([2, 0, 5]);
    expect(outcome.failures.map(({ index }) => index)).toEqual([1, 2, 3, 4, 5]);
    expect(outcome.failures[3]?.reason).toBe('"summary" has the character U+0000, which cannot be stored');
    expect(outcome.failures[4]?.reason).toBe("The record is nested more than 64 levels deep");
    expect(await store.groups()).toEqual(["OSV-1", "OSV-5"]);
  });

  test("a batch of invalid records and an empty batch are not errors of the service", async () => {
    expect(counts(await store.take(1))).toEqual([0, 0, 1]);
    expect(counts(await store.take())).toEqual([0, 0, 0]);
  });

  test("the description is one line of at most 160 characters, cut at a word", async () => {
    await store.publish(osvRecord("OSV-1", { details: `# Title\n\ta\u0007b ${"word ".repeat(60)}` }));
    const [issue] = await store.issues();
    expect(issue?.description).toStartWith("# Title a b word word");
    expect(issue?.description).toEndWith(" word…");
    expect([...(issue?.description ?? "")].length).toBeWithin(150, 161);
  });

  test("the issues do not depend on how records are divided into batches", async () => {
    const records = [
      about("GHSA-aaaa-bbbb-cccc", { aliases: ["PYSEC-1"] }),
      about("PYSEC-1", { aliases: ["CVE-2026-0001"] }),
      about("OSV-9", { aliases: ["GHSA-aaaa-bbbb-cccc", "CVE-2026-0002"], summary: "Of two" }),
      about("CVE-2026-0001", scored("CVSS_V3", mediumVector)),
      about("MAL-2026-1", { aliases: ["CVE-2026-0003"] }),
      about("CVE-2026-0003", scored("CVSS_V3", mediumVector)),
      about("GHSA-bbbb-bbbb-cccc", { aliases: ["PYSEC-5"], database_specific: { severity: "HIGH", cwe_ids: ["CWE-79"] } }),
      about("PYSEC-5"),
      about("GHSA-cccc-bbbb-cccc", { aliases: ["PYSEC-6"], database_specific: { cwe_ids: ["CWE-506"] } }),
      about("PYSEC-6"),
    ];
    const storedIssues = async () => (await store.issues()).map(({ id: _id, ...issue }) => issue);
    await store.take(...records);
    const atOnce = await storedIssues();
    await database.sql.unsafe(`TRUNCATE ${emptied} CASCADE`);
    for (const record of records.toReversed()) await store.take(record);
    expect(await storedIssues()).toEqual(atOnce);
    expect(atOnce.map(({ severity, basis, rank }) => [severity, basis, rank])).toEqual([
      ["medium", "vector", 2054],
      [null, null, 0],
      ["critical", "malware", 4054],
      ["high", "word", 3000],
      ["critical", "malware", 4000],
    ]);
  });

  test("stored entries of packages have all data for matching, without ranges of commits", async () => {
    const git = { type: "GIT", repo: "https://example.com/r", events: [{ introduced: "0" }] };
    const semver = { type: "SEMVER", events: [{ introduced: "1.0.0" }, { fixed: "1.2.0" }] };
    const affected = [
      { package: { ecosystem: "Debian:12", name: "lodash" }, versions: ["9"] },
      { ranges: [git] },
      { package: { ecosystem: "npm", name: "lodash" }, ranges: [git, semver], versions: ["0.9.0"] },
    ];
    await store.publish(osvRecord("OSV-1", { affected }));
    const rows = await database.sql<{ position: number; name: string; entry: { versions: string[] } }[]>`
      SELECT position, packages.name, entry FROM affected_packages JOIN packages ON packages.id = package_id`;
    expect(rows.map(({ position, name }) => [position, name])).toEqual([[2, "lodash"]]);
    const read = readAffected({ ecosystem: "npm", entry: rows[0]?.entry ?? {} });
    const states = ["0.8.0", "0.9.0", "1.1.9", "1.2.0"].map(
      (text) => evaluate({ version: readVersion({ scheme: "npm", text }), affected: read }).state,
    );
    expect(states).toEqual(["unaffected", "affected", "affected", "unaffected"]);
  });

  test("a batch is retried after a deadlock, a limited number of times", async () => {
    await database.sql.unsafe(`
      CREATE SEQUENCE deadlocks;
      CREATE FUNCTION deadlock() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN IF nextval('deadlocks') <= 5 THEN RAISE SQLSTATE '40P01'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER deadlock BEFORE INSERT ON advisories FOR EACH ROW EXECUTE FUNCTION deadlock()`);
    try {
      expect(await store.take(about("OSV-1")).catch((error: { code: string }) => error.code)).toBe("40P01");
      expect(await store.groups()).toEqual([]);
      expect(counts(await store.take(about("OSV-1")))).toEqual([1, 0, 0]);
    } finally {
      await database.sql.unsafe("DROP TRIGGER deadlock ON advisories; DROP FUNCTION deadlock; DROP SEQUENCE deadlocks");
    }
  });

  test("two imports of the same records at the same time store each record once", async () => {
    const records = Array.from({ length: 120 }, (_, index) =>
      about(`OSV-${index}`, { aliases: [`CVE-2026-${1000 + (index % 40)}`], name: `package-${index % 7}` }),
    );
    const parts = [records, records.toReversed(), records.slice(60), records.slice(0, 90).toReversed()];
    const outcomes = await Promise.all(parts.map((part) => store.take(...part)));
    expect(outcomes.reduce((sum, { imported }) => sum + imported, 0)).toBe(120);
    expect(await store.groups()).toHaveLength(40);
    expect((await store.issues()).every(({ names }) => names.length === 4)).toBe(true);
  });
});
