import { expect, test } from "bun:test";
import { chooseSeverity, factsOf, type SeverityRecord } from "../../../src/security/advisories/issue.ts";
import { readAdvisory } from "../../../src/security/advisories/read-advisory.ts";
import { osvRecord } from "../../support/security/advisories.ts";

const vectors = {
  two: "AV:N/AC:L/Au:N/C:C/I:C/A:C",
  three: "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  threeOne: "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:L/I:N/A:N",
  threeOneHigh: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  four: "CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N",
};

function record(id: string, ...severities: [type: string, score: string][]): SeverityRecord {
  return { id, severities: severities.map(([type, score]) => ({ type, score })), malware: false };
}

/** A record as its database publishes it. */
function published(id: string, fields: Record<string, unknown>): SeverityRecord {
  return factsOf(readAdvisory(osvRecord(id, fields)));
}

const judge = (...own: SeverityRecord[]) => chooseSeverity({ own, shared: [] });

test("an issue has the severity of any record with one, and names the record", () => {
  const { severity } = judge(record("PYSEC-1"), record("GHSA-1", ["CVSS_V3", vectors.threeOne]), record("GO-1"));
  expect(severity).toEqual({
    version: "3.1",
    vector: vectors.threeOne,
    score: 4.3,
    severity: "medium",
    source: "GHSA-1",
    basis: "vector",
  });
});

test("the newest CVSS version wins in any record", () => {
  const records = [
    record("CVE-2026-0001", ["CVSS_V2", vectors.two], ["CVSS_V3", vectors.three]),
    record("GHSA-1", ["CVSS_V3", vectors.threeOne]),
  ];
  expect(judge(...records).severity).toMatchObject({ version: "3.1", source: "GHSA-1" });
  expect(judge(...records, record("X-1", ["CVSS_V4", vectors.four])).severity).toMatchObject({
    version: "4.0",
    score: 7.3,
    source: "X-1",
  });
});

test("among equal versions the CVE record wins, then GitHub's, then the higher score", () => {
  const other = record("PYSEC-1", ["CVSS_V3", vectors.threeOneHigh]);
  const github = record("GHSA-1", ["CVSS_V3", vectors.threeOne]);
  expect(judge(other, github).severity?.source).toBe("GHSA-1");
  expect(judge(github, record("CVE-2026-0001", ["CVSS_V3", vectors.threeOne])).severity?.source).toBe("CVE-2026-0001");
  expect(judge(record("A-1", ["CVSS_V3", vectors.threeOne]), other).severity?.source).toBe("PYSEC-1");
});

test("a record with only CVSS 4.0 has a severity", () => {
  expect(judge(record("GHSA-1", ["CVSS_V4", vectors.four])).severity).toMatchObject({ severity: "high", score: 7.3 });
});

test("a record without a vector has the severity of its database's word, and others have none", () => {
  const said = (word: string) => judge(published("GHSA-1", { severity: [], database_specific: { severity: word } })).severity;
  const found = ["CRITICAL", "HIGH", "MODERATE", "Medium", " low ", "Important"].map((word) => said(word)?.severity);
  expect(found).toEqual(["critical", "high", "medium", "medium", "low", "high"]);
  expect(said("HIGH")).toEqual({ severity: "high", basis: "word", source: "GHSA-1", score: null, version: null, vector: null });
  expect(["UNKNOWN", "", "none", "highest", "x".repeat(1_000)].map(said)).toEqual([null, null, null, null, null]);
  expect(judge(published("GHSA-1", { database_specific: { severity: 9 } }), record("PYSEC-1")).severity).toBeNull();
});

test("a word may also be in the field severity, or stand at a package", () => {
  expect(judge(record("USN-1", ["Ubuntu", "high"])).severity).toMatchObject({ severity: "high", basis: "word" });
  const at = (place: string) =>
    published("OSV-1", { affected: [{ [place]: { severity: "MEDIUM" } }, { [place]: { severity: "LOW" } }] });
  for (const place of ["ecosystem_specific", "database_specific"])
    expect(judge(at(place)).severity).toMatchObject({ severity: "medium", source: "OSV-1" });
});

test("a valid vector of any record goes before every word, and a word before none", () => {
  const word = published("GHSA-1", { database_specific: { severity: "CRITICAL" } });
  expect(judge(word, record("PYSEC-1", ["CVSS_V3", vectors.threeOne])).severity).toMatchObject({
    severity: "medium",
    basis: "vector",
  });
  expect(chooseSeverity({ own: [word], shared: [record("GO-1", ["CVSS_V4", vectors.four])] }).severity?.basis).toBe("vector");
  const broken = published("GHSA-1", {
    severity: [{ type: "CVSS_V3", score: "CVSS:3.1/AV:N" }],
    database_specific: { severity: "HIGH" },
  });
  expect(judge(broken)).toMatchObject({ severity: { severity: "high", basis: "word" }, refused: [{ vector: "CVSS:3.1/AV:N" }] });
});

test("among words GitHub's goes before those of other databases, then the higher one", () => {
  const low = published("GHSA-1", { database_specific: { severity: "LOW" } });
  const [high, critical] = ["HIGH", "CRITICAL"].map((severity, index) =>
    published(`X-${index}`, { database_specific: { severity } }),
  ) as [SeverityRecord, SeverityRecord];
  expect(judge(critical, low).severity?.source).toBe("GHSA-1");
  expect(judge(high, critical).severity?.source).toBe("X-1");
  expect(chooseSeverity({ own: [], shared: [high] }).severity?.severity).toBe("high");
});

test("malware is critical, whatever a vector or a word says, and the score stays", () => {
  const malicious = published("MAL-2026-1", {});
  expect(judge(malicious).severity).toEqual({
    severity: "critical",
    basis: "malware",
    source: "MAL-2026-1",
    score: null,
    version: null,
    vector: null,
  });
  expect(judge(record("GHSA-1", ["CVSS_V3", vectors.threeOne]), malicious).severity).toMatchObject({
    severity: "critical",
    source: "MAL-2026-1",
    score: 4.3,
  });
});

test("a record of GitHub with the weakness CWE-506 or one of its kinds is about malware", () => {
  const withCwes = (id: string, cwe_ids: unknown) => judge(published(id, { database_specific: { cwe_ids } })).severity?.basis;
  for (const cwe of ["CWE-506", "CWE-507", "CWE-510", "CWE-512"]) expect(withCwes("GHSA-1", ["CWE-79", cwe])).toBe("malware");
  for (const cwes of [["CWE-505"], ["CWE-513"], ["CWE-5060"], "CWE-79", null, [506]])
    expect(withCwes("GHSA-1", cwes)).toBeUndefined();
  expect(withCwes("PYSEC-1", ["CWE-506"])).toBeUndefined();
});

test("an invalid vector, or one with the wrong type, is refused with its record, and the next one counts", () => {
  const { severity, refused } = judge(
    record("GHSA-1", ["CVSS_V4", vectors.threeOneHigh], ["CVSS_V3", "CVSS:3.1/AV:N"], ["CVSS_V2", vectors.two]),
  );
  expect(severity).toMatchObject({ version: "2.0", score: 10, severity: "high" });
  expect(refused).toEqual([
    { source: "GHSA-1", vector: vectors.threeOneHigh, reason: 'The vector is of CVSS 3.1, and its type is "CVSS_V4"' },
    { source: "GHSA-1", vector: "CVSS:3.1/AV:N", reason: 'The CVSS 3.1 vector lacks the mandatory metric "AC"' },
  ]);
});

test("records about several issues count when no record about only this issue has a vector", () => {
  const shared = [record("GO-1", ["CVSS_V4", vectors.four])];
  const own = [record("PYSEC-1", ["CVSS_V2", vectors.two])];
  expect(chooseSeverity({ own, shared }).severity?.source).toBe("PYSEC-1");
  expect(chooseSeverity({ own: [], shared }).severity?.source).toBe("GO-1");
});

test("a severity of one package in a record counts too", () => {
  const affected = [{ severity: [{ type: "CVSS_V3", score: vectors.three }] }];
  expect(judge(published("X-1", { affected })).severity).toMatchObject({ score: 9.8 });
});
