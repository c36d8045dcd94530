import type { FindingRow } from "../../../src/security/findings/lists/list-rows.ts";

/** A row of a list of findings, as the control API answers it. */
export function sampleFinding(changes: Partial<FindingRow> = {}): FindingRow {
  return {
    id: "fnd_1",
    cve_id: "CVE-2024-1",
    severity: "high",
    cvss_score: 7.5,
    severity_basis: "vector",
    status: "open",
    false_positive: false,
    component: "lodash",
    component_version: "4.17.20",
    ecosystem: "npm",
    purl: "pkg:npm/lodash@4.17.20",
    fix_version: "4.17.21",
    project_id: "prj_1",
    project: "shop",
    sbom_ids: [],
    first_seen: "2026-11-20T00:00:00.000Z",
    last_seen: "2026-11-21T00:00:00.000Z",
    evidence: { source: "GHSA-1", range: "introduced 0, fixed 4.17.21", comparator: ">= 0, < 4.17.21", listed: null },
    ...changes,
  };
}
