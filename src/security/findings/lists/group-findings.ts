/**
 * How many findings a list has of each severity, and the findings of a search by package or by vulnerability.
 *
 * Counts come from the buckets of lists, so they cost the same for any number of findings. Groups are counted among the first findings of the
 * search, in list order, up to `findingsGroupedMax`: the answer says if there are more. The most severe are then still among them.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { textOrNull } from "../../../http/json-schema.ts";
import { findingsGroupedMax } from "../limits.ts";
import { cvssScore, ecosystem, ecosystemNameOf, scoreShown, severityOf, SeverityView } from "../schema.ts";
import { exploitFields } from "../../vulnerabilities/schema.ts";
import { countByRank, countExploited, selectGroups, type FindingGroup } from "./finding-search-store.ts";
import { chooseByText, type SearchRequest } from "./search-findings.ts";

const count = (description: string) => Type.Integer({ description });

export const FindingCounts = Type.Object({
  critical: count("Of severity critical"),
  high: count("Of severity high"),
  medium: count("Of severity medium"),
  low: count("Of severity low"),
  unknown: count("Without a severity"),
  total: count("Of all severities"),
  exploited: Type.Union([Type.Integer(), Type.Null()], {
    description:
      "In CISA's catalog of known exploited vulnerabilities; null for another status than `live`, and before it is imported",
  }),
});
export type FindingCounts = Static<typeof FindingCounts>;

export async function countSearched(
  { scope, shown }: Pick<SearchRequest, "scope" | "shown">,
  sql: Queries,
): Promise<FindingCounts> {
  const counts: FindingCounts = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0, total: 0, exploited: null };
  for (const { rank, count: found } of await countByRank({ scope, shown }, sql)) {
    counts[severityOf(rank) ?? "unknown"] += found;
    counts.total += found;
  }
  return shown === "live" ? { ...counts, exploited: await countExploited(scope, sql) } : counts;
}

const FindingGroupView = Type.Object({
  component: textOrNull("The component's name; null for a group by vulnerability"),
  ecosystem,
  cve_id: textOrNull("The vulnerability; null for a group by package"),
  severity: SeverityView,
  cvss_score: cvssScore,
  findings: count("Its findings"),
  fixable: count("Those among them with a version to upgrade to"),
  vulnerabilities: count("Vulnerabilities among them"),
  packages: count("Packages among them"),
  versions: count("Versions among them"),
  projects: count("Projects among them"),
  known_exploited_since: exploitFields.known_exploited_since,
  epss: exploitFields.epss,
});
export type FindingGroupView = Static<typeof FindingGroupView>;

export const FindingGroups = Type.Object({
  data: Type.Array(FindingGroupView, { description: "Those with the most severe findings first" }),
  total: count("How many groups there are"),
  whole: Type.Boolean({
    description: `Whether all findings are counted: a list of more than ${findingsGroupedMax} is grouped by its first ones`,
  }),
});
export type FindingGroups = Static<typeof FindingGroups>;

/** The findings of a search by package or vulnerability. @throws DomainError as `searchFindings` does */
export async function groupFindings(
  { by, offset, ...request }: Omit<SearchRequest, "after"> & { by: "package" | "vulnerability"; offset: number },
  sql: Queries,
): Promise<FindingGroups> {
  const { text: _text, vulnerability: _vulnerability, ...given } = request;
  const { finding, ...chosen } = await chooseByText(request, sql);
  // A single finding has no groups.
  if (finding !== null) return { data: [], total: 0, whole: true };
  const { groups, total, isWhole } = await selectGroups({ ...given, ...chosen, by, offset, walked: findingsGroupedMax }, sql);
  return { data: groups.map(viewGroup), total, whole: isWhole };
}

function viewGroup(group: FindingGroup): FindingGroupView {
  return {
    component: group.component,
    ecosystem: group.ecosystem && ecosystemNameOf(group.ecosystem),
    cve_id: group.issue,
    severity: severityOf(group.rank),
    cvss_score: scoreShown(group),
    findings: group.findings,
    fixable: group.fixable,
    vulnerabilities: group.issues,
    packages: group.packages,
    versions: group.versions,
    projects: group.projects,
    known_exploited_since: group.kevAdded,
    epss: group.epss,
  };
}
