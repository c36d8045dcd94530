/** SARIF as GitHub's code scanning takes it. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { placeOf } from "../../scripts/weir/report.ts";
import { sarifOf } from "../../src/security/findings/details/sarif.ts";
import { sampleFinding } from "../support/security/sample-finding.ts";

const findings = [
  sampleFinding({ id: "fnd_1", cve_id: "CVE-2024-1", severity: "critical", cvss_score: 9.8 }),
  sampleFinding({ id: "fnd_2", cve_id: "CVE-2024-1", component_version: "4.17.19", severity: "critical", cvss_score: 9.8 }),
  sampleFinding({ id: "fnd_3", cve_id: "GO-2024-2", severity: null, cvss_score: null, fix_version: null, status: "ignored" }),
  sampleFinding({ id: "fnd_4", cve_id: "CVE-2024-3", severity: "high", cvss_score: null }),
];
const sarif = sarifOf(findings, () => "./web app/package-lock.json");
const [run] = sarif.runs;

test("SARIF has the log's required properties, and one run with a rule for each vulnerability", () => {
  expect(sarif.version).toBe("2.1.0");
  expect(sarif.$schema).toEndWith("sarif-schema-2.1.0.json");
  expect(run?.tool.driver.name).toBe("Weir");
  expect(run?.tool.driver.rules.map(({ id }) => id)).toEqual(["CVE-2024-1", "GO-2024-2", "CVE-2024-3"]);
});

test("every rule of SARIF has the texts that GitHub requires, and a score where a severity is known", () => {
  const rules = run?.tool.driver.rules ?? [];
  for (const { shortDescription, fullDescription, help } of rules) {
    for (const { text } of [shortDescription, fullDescription, help])
      expect([text.length > 0, text.length <= 1_000]).toEqual([true, true]);
  }
  expect(rules.map(({ properties }) => properties["security-severity"])).toEqual(["9.8", undefined, "8.0"]);
  expect(rules.map(({ defaultConfiguration: { level } }) => level)).toEqual(["error", "note", "error"]);
});

test("every result of SARIF has a rule, a message, one whole place in a file of the repository and a fingerprint of its own", () => {
  const results = run?.results ?? [];
  expect(results.map(({ ruleIndex }) => ruleIndex)).toEqual([0, 0, 1, 2]);
  for (const { locations } of results) {
    expect(locations).toEqual([
      {
        physicalLocation: {
          artifactLocation: { uri: "web%20app/package-lock.json" },
          region: { startLine: 1, startColumn: 1, endLine: 1, endColumn: 2 },
        },
      },
    ]);
  }
  expect(results[0]?.message.text).toBe("lodash 4.17.20 has CVE-2024-1 (critical, CVSS 9.8). Upgrade lodash 4.17.20 to 4.17.21.");
  expect(results[2]?.message.text).toBe(
    "lodash 4.17.20 has GO-2024-2 (severity unknown). No version of lodash that fixes it is known.",
  );
  const fingerprints = results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash);
  expect(new Set(fingerprints).size).toBe(4);
  expect(fingerprints[0]?.split(":")).toEqual([fingerprints[1]?.split(":")[0] ?? "", "1"]);
  expect(results.map((result) => "suppressions" in result)).toEqual([false, false, true, false]);
});

test("the fingerprint of a finding stays when its component moves to another affected version", () => {
  const [later] = sarifOf([sampleFinding({ cve_id: "CVE-2024-1", component_version: "4.17.18" })], () => "x").runs;
  const hash = later?.results[0]?.partialFingerprints.primaryLocationLineHash;
  expect(hash).toBe(run?.results[0]?.partialFingerprints.primaryLocationLineHash ?? "");
});

test("what is not affected is a suppressed result with its reason", () => {
  const finding = { ...sampleFinding({ status: "not_affected" }), justification: "code_not_reachable" };
  const [decided] = sarifOf([finding], () => "x").runs;
  expect(decided?.results[0]?.suppressions).toEqual([
    { kind: "external", status: "accepted", justification: "code_not_reachable" },
  ]);
});

test("malware has a score of its severity in SARIF, and the message says what it is", () => {
  const malware = sampleFinding({ severity: "critical", cvss_score: 4.3, severity_basis: "malware" });
  const [found] = sarifOf([malware], () => "x").runs;
  expect(found?.tool.driver.rules[0]?.properties["security-severity"]).toBe("9.5");
  expect(found?.results[0]?.message.text).toContain("(critical, CVSS 4.3, malware)");
});

test("an absolute path in the working folder is relative in SARIF, and one outside it is kept with a warning", () => {
  const place = (given: string) => placeOf({ given, isSarif: true });
  expect(place(join(process.cwd(), "web", "bom.json"))).toEqual({ path: join("web", "bom.json"), warnings: [] });
  expect(place("./..bom.json")).toEqual({ path: "..bom.json", warnings: [] });
  for (const outside of ["../bom.json", "/bom.json"]) {
    expect(place(outside)).toEqual({
      path: outside,
      warnings: [expect.stringContaining("--location names one of the repository")],
    });
  }
});
