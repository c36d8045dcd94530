import { expect, test } from "bun:test";
import { chooseSeverity, type SeverityRecord } from "../../../src/security/advisories/issue.ts";

const vectors = {
  two: "AV:N/AC:L/Au:N/C:C/I:C/A:C",
  three: "CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  threeOne: "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:U/C:L/I:N/A:N",
  threeOneHigh: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  four: "CVSS:4.0/AV:L/AC:L/AT:P/PR:L/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N",
};

function record(id: string, ...severities: [type: string, score: string][]): SeverityRecord {
  return { id, affected: [], severities: severities.map(([type, score]) => ({ type, score })) };
}

const judge = (...own: SeverityRecord[]) => chooseSeverity({ own, shared: [] });

test("an issue has the severity of any record with one, and names the record", () => {
  const { severity } = judge(record("PYSEC-1"), record("GHSA-1", ["CVSS_V3", vectors.threeOne]), record("GO-1"));
  expect(severity).toEqual({ version: "3.1", vector: vectors.threeOne, score: 4.3, severity: "medium", source: "GHSA-1" });
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

test("a record without a vector has no severity", () => {
  expect(judge(record("PYSEC-1"), record("USN-1", ["Ubuntu", "high"]))).toEqual({ severity: null, refused: [] });
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
  const affected = [
    {
      package: null,
      severities: [{ type: "CVSS_V3", score: vectors.three }],
      ranges: [],
      versions: [],
      ecosystemSpecific: {},
      databaseSpecific: {},
    },
  ];
  expect(judge({ id: "X-1", severities: [], affected }).severity).toMatchObject({ score: 9.8 });
});
