/** CycloneDX VEX: what analyses mean, and which documents are refused. */
import { describe, expect, test } from "bun:test";
import { vexBytesMax, vexStatementsMax } from "../../../src/security/findings/limits.ts";
import { analysisOf, decisionOf, type Decided } from "../../../src/security/findings/vex/analysis.ts";
import { readVex } from "../../../src/security/findings/vex/read-vex.ts";

const decided = (status: Decided["status"], falsePositive = false, note: string | null = null): Decided => ({
  status,
  falsePositive,
  note,
});

describe("a decision", () => {
  test.each([
    [decided("open")],
    [decided("in_progress", false, "planned")],
    [decided("ignored", false, "accepted by the owner")],
    [decided("resolved")],
    [decided("open", true, "another package")],
    [decided("ignored", false, "not_affected: code_not_reachable. Never called\nin production")],
    [decided("ignored", false, "not_affected")],
  ])("%j is the same after an export and an import", (decision) => {
    expect(decisionOf(analysisOf(decision))).toEqual(decision);
  });

  test("to ignore a finding is an accepted risk, and no claim that the product is not affected", () => {
    expect(analysisOf(decided("ignored"))).toEqual({ state: "exploitable", response: ["will_not_fix"] });
    expect(analysisOf(decided("ignored", false, "not_affectedly: x"))).toMatchObject({ state: "exploitable" });
  });

  test("a note is cut to the length of notes, without control characters", () => {
    const { note } = decisionOf({ state: "in_triage", detail: `\u001b[31m${"x".repeat(3_000)}` });
    expect([note?.length, note?.includes("\u001b")]).toEqual([2_000, false]);
  });
});

const read = (document: unknown) =>
  readVex(new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document)));
const document = (vulnerabilities: unknown) => ({ bomFormat: "CycloneDX", vulnerabilities });

describe("a document", () => {
  const analysis = { state: "resolved" };

  test("statements name a package by purl, by bom-ref or by BOM-Link; without an analysis they decide nothing", () => {
    const components = [{ "bom-ref": "b", purl: "pkg:pypi/Zope.Interface@5.0" }];
    const affects = [{ ref: "pkg:npm/%40a/b@1.0.0" }, { ref: "b" }, { ref: "urn:cdx:1/1#b" }, { ref: "unknown" }];
    const vulnerabilities = [{ id: "CVE-2024-0001", analysis, affects }, { id: "CVE-2024-0002" }, { id: "ghsa-x", analysis }];
    const statements = read({ ...document(vulnerabilities), components });
    expect(statements.map((one) => [one.id, one.package && `${one.package.identity} ${one.package.version}`])).toEqual([
      ["CVE-2024-0001", "npm @a/b 1.0.0"],
      ["CVE-2024-0001", "PyPI zope-interface 5.0"],
      ["CVE-2024-0001", "PyPI zope-interface 5.0"],
      ["CVE-2024-0001", null],
      ["GHSA-X", null],
    ]);
  });

  test.each([
    ["hello", "not valid JSON"],
    ["[]", "not a CycloneDX document"],
    ['{"bomFormat":"CycloneDX","bomFormat":"SPDX"}', "twice"],
    [{ bomFormat: "SPDX" }, "bomFormat"],
    [document({}), "vulnerabilities has to be a list"],
    [document([{ id: "x", analysis }]), "vulnerabilities[0].id has to be the id of a vulnerability"],
    [document([{ id: "CVE-2024-0001", analysis: { state: "maybe" } }]), "vulnerabilities[0].analysis.state has to be one of"],
    [document([{ id: "CVE-2024-0001", analysis, affects: [{}] }]), "vulnerabilities[0].affects[0].ref has to be a text"],
    [
      document([{ id: "CVE-2024-0001", analysis, affects: Array.from({ length: vexStatementsMax + 1 }, () => ({ ref: "x" })) }]),
      "at most 5000",
    ],
    [`{"bomFormat":${"[".repeat(40)}${"]".repeat(40)}}`, "nested deeper than 32 levels"],
    [`{"bomFormat":[${"0,".repeat(vexBytesMax / 4)}0]}`, "more than 200000 JSON values"],
  ])("%# is refused with its place", (given, reason) => {
    expect(() => read(given)).toThrow(reason);
  });
});
