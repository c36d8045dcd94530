/**
 * The rows of findings and vulnerabilities as lists show them, and the counts of vulnerabilities of projects and products. Each view
 * names the texts that `fit-page.ts` may cut.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { textOrNull } from "../../../http/json-schema.ts";
import { isoTime } from "../../../kernel/clock.ts";
import type { Shorten } from "../fit-page.ts";
import {
  ecosystemNameOf,
  cvssScore,
  ecosystem,
  fixVersion,
  FindingStatusView,
  SeverityBasisView,
  SeverityView,
  scoreShown,
  severityOf,
} from "../schema.ts";
import type { ListedFinding } from "./finding-list-store.ts";
import { type ListedVulnerability, countLiveIssues } from "./vulnerability-list-store.ts";

export const FindingRow = Type.Object({
  id: Type.String({ description: "The finding's id" }),
  cve_id: Type.String({
    description: "The vulnerability: its CVE id, or another id when it has none; get_vulnerability accepts it",
  }),
  severity: SeverityView,
  cvss_score: cvssScore,
  severity_basis: SeverityBasisView,
  status: FindingStatusView,
  false_positive: Type.Boolean({ description: "Whether a person marked it as a false positive" }),
  component: Type.String({ description: "The affected component's name, as the SBOM has it" }),
  component_version: Type.String({ description: "The component's version; empty when the SBOM names none" }),
  ecosystem,
  purl: textOrNull("The component's package URL, as the SBOM has it"),
  fix_version: fixVersion,
  project_id: Type.String({ description: "Id of the project that has the component" }),
  project: Type.String({ description: "Name of that project" }),
  sbom_ids: Type.Array(Type.String(), { description: "SBOMs that have it: the newest two; on a long page the newest one" }),
  first_seen: Type.String({ description: "When a scan found it first (UTC, ISO 8601)" }),
  last_seen: Type.String({ description: "When a scan found it last (UTC, ISO 8601)" }),
  evidence: Type.Object(
    {
      source: textOrNull("Id of the advisory"),
      range: textOrNull("The range as the advisory has it; null when no range contains the version"),
      comparator: textOrNull("The part of the range that contains the version"),
      listed: textOrNull("The version as the advisory lists it; null when it does not"),
    },
    { description: "Why it is a finding" },
  ),
});
export type FindingRow = Static<typeof FindingRow>;

/**
 * When a page is too long, the second SBOM, the range and its matching part are cut first, then the component's name, which is also in its
 * package URL.
 */
export function viewFinding(finding: ListedFinding, shorten: Shorten): FindingRow {
  return {
    id: finding.id,
    cve_id: finding.vulnerability,
    severity: severityOf(finding.rank),
    cvss_score: scoreShown(finding),
    severity_basis: finding.severityBasis,
    status: finding.status,
    false_positive: finding.falsePositive,
    component: shorten(finding.component, finding.purl === null ? "name" : "repeated"),
    component_version: shorten(finding.version, "name"),
    ecosystem: ecosystemNameOf(finding.ecosystem),
    purl: shorten(finding.purl, "name"),
    fix_version: shorten(finding.fixVersion, "name"),
    project_id: finding.project,
    project: finding.projectName,
    sbom_ids: finding.sboms.filter((sbom, index) => index === 0 || shorten(sbom) === sbom),
    first_seen: isoTime(finding.firstSeen.getTime()),
    last_seen: isoTime(finding.lastSeen.getTime()),
    evidence: {
      source: finding.source,
      range: shorten(finding.range),
      comparator: shorten(finding.comparator),
      listed: shorten(finding.listed, "name"),
    },
  };
}

export const VulnerabilityRow = Type.Object({
  cve_id: Type.String({ description: "Its CVE id, or another id when it has none; get_vulnerability accepts it" }),
  severity: SeverityView,
  cvss_score: cvssScore,
  affected_component: Type.String({ description: "A component that has it, as name@version" }),
  affected_project: Type.String({ description: "Name of the project of that component" }),
  fix_version: fixVersion,
  description: Type.String({ description: "In at most 160 characters" }),
  ecosystem,
  affected_components_count: Type.Integer({
    description: "Components of the scope that have it; a component of two projects counts twice",
  }),
  affected_projects_count: Type.Integer({ description: "Projects of the scope that have it" }),
});
export type VulnerabilityRow = Static<typeof VulnerabilityRow>;

/** When a page is too long, the description is cut first. */
export function viewVulnerability(listed: ListedVulnerability, shorten: Shorten): VulnerabilityRow {
  const { component, version } = listed;
  return {
    cve_id: listed.name,
    severity: severityOf(listed.rank),
    cvss_score: scoreShown(listed),
    affected_component: shorten(version === "" ? component : `${component}@${version}`, "name"),
    affected_project: listed.project,
    fix_version: shorten(listed.fixVersion, "name"),
    description: shorten(listed.description),
    ecosystem: ecosystemNameOf(listed.ecosystem),
    affected_components_count: listed.findings,
    affected_projects_count: listed.projects,
  };
}

const count = (description: string) => Type.Integer({ description });

export const VulnerabilityCounts = Type.Object(
  {
    critical: count("Of severity critical"),
    high: count("Of severity high"),
    medium: count("Of severity medium"),
    low: count("Of severity low"),
    unknown: count("Without a severity"),
    total: count("Of all severities"),
  },
  { description: "Vulnerabilities with a finding that is open or in progress and no false positive" },
);
export type VulnerabilityCounts = Static<typeof VulnerabilityCounts>;

/**
 * Counts what a list of each scope would show.
 * @param ids of projects or products
 * @returns the counts by id, zero for those that have none
 */
export async function countVulnerabilities(ids: readonly string[], sql: Queries): Promise<Map<string, VulnerabilityCounts>> {
  const counts = new Map(ids.map((id) => [id, { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, total: 0 }]));
  for (const { scope, rank, issues } of ids.length === 0 ? [] : await countLiveIssues(ids, sql)) {
    const counted = counts.get(scope);
    if (counted === undefined) continue;
    counted[severityOf(rank) ?? "unknown"] += issues;
    counted.total += issues;
  }
  return counts;
}
