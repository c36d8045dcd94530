import { Type, type Static } from "@sinclair/typebox";
import { isoTime } from "../../../kernel/clock.ts";
import { ecosystemNameOf } from "../ecosystem-names.ts";
import type { ListedFinding } from "./finding-list-store.ts";
import type { Shorten } from "../fit-page.ts";
import { cvssScore, ecosystem, fixVersion } from "../row-fields.ts";
import { FindingStatusView, SeverityView } from "../schema.ts";
import { scoreShown, severityOf } from "../severity.ts";

export const FindingRow = Type.Object({
  id: Type.String({ description: "The finding's id" }),
  cve_id: Type.String({
    description: "The vulnerability: its CVE id, or another id when it has none; get_vulnerability accepts it",
  }),
  severity: SeverityView,
  cvss_score: cvssScore,
  status: FindingStatusView,
  false_positive: Type.Boolean({ description: "Whether a person marked it as a false positive" }),
  component: Type.String({ description: "The affected component's name, as the SBOM has it" }),
  component_version: Type.String({ description: "The component's version; empty when the SBOM names none" }),
  ecosystem,
  purl: Type.Union([Type.String(), Type.Null()], { description: "The component's package URL, as the SBOM has it" }),
  fix_version: fixVersion,
  project_id: Type.String({ description: "Id of the project that has the component" }),
  project: Type.String({ description: "Name of that project" }),
  sbom_ids: Type.Array(Type.String(), { description: "SBOMs that have it: the newest two; on a long page the newest one" }),
  first_seen: Type.String({ description: "When a scan found it first (UTC, ISO 8601)" }),
  last_seen: Type.String({ description: "When a scan found it last (UTC, ISO 8601)" }),
  evidence: Type.Object(
    {
      source: Type.Union([Type.String(), Type.Null()], { description: "Id of the advisory" }),
      range: Type.Union([Type.String(), Type.Null()], {
        description: "The range as the advisory has it; null when no range contains the version",
      }),
      comparator: Type.Union([Type.String(), Type.Null()], { description: "The part of the range that contains the version" }),
      listed: Type.Union([Type.String(), Type.Null()], {
        description: "The version as the advisory lists it; null when it does not",
      }),
    },
    { description: "Why it is a finding" },
  ),
});
export type FindingRow = Static<typeof FindingRow>;

/** When a page is too long, the second SBOM, the range and its matching part are cut first, then the component's name, which its package URL has too. */
export function viewFinding(finding: ListedFinding, shorten: Shorten): FindingRow {
  return {
    id: finding.id,
    cve_id: finding.vulnerability,
    severity: severityOf(finding.rank),
    cvss_score: scoreShown(finding),
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
