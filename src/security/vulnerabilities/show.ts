/** One vulnerability with its sources, what it affects, and where it occurs. */
import { byPrecedence } from "../advisories/issues/issue.ts";
import { readAdvisory } from "../advisories/read-advisory.ts";
import type { Queries } from "../../backing/backing.ts";
import { ecosystemNameOf } from "../findings/ecosystem-names.ts";
import {
  vulnerabilityAffectedMax,
  vulnerabilityAliasesMax,
  vulnerabilityOccurrencesMax,
  vulnerabilityRangesMax,
  vulnerabilitySourcesMax,
} from "../limits.ts";
import { DomainError } from "../../accounts/errors.ts";
import { affectedPackages, type BoundedRecord } from "./affected-packages.ts";
import { readIdentifier } from "./identifier.ts";
import type { VulnerabilityRecord } from "./schema.ts";
import {
  countOccurrences,
  selectBoundedRecords,
  selectByName,
  selectOccurrences,
  type InScope,
  type IssueRow,
  type OccurrenceRow,
} from "./store.ts";
import { summaryOf } from "./summary.ts";

export interface ShownVulnerability {
  /** As it was asked for, in capitals. */
  id: string;
  /** The vulnerabilities that the id stands for. */
  names: string[];
  record: VulnerabilityRecord;
}

/**
 * @param named any id of the vulnerability, in any case
 * @throws DomainError invalid_field for what is no id; not_found
 */
export async function showVulnerability(
  { named, workspace, scope }: { named: string } & Omit<InScope, "vulnerability">,
  sql: Queries,
): Promise<ShownVulnerability> {
  const id = readIdentifier(named);
  if (id === null) throw new DomainError("invalid_field", "Invalid CVE identifier");
  const issues = await selectByName(id, sql);
  const [issue] = issues;
  if (issue === undefined) throw new DomainError("not_found", `None of the advisories that this service has is about "${id}"`);
  const names = issues.map(({ name }) => name);
  const record = {
    ...(await viewIssue(issue, sql)),
    stands_for: names.slice(0, vulnerabilityAliasesMax),
    ...(await viewOccurrences({ vulnerability: issue.id, workspace, scope }, sql)),
  };
  const ecosystem = record.ecosystem ?? onlyEcosystem(record.affected.map((one) => one.ecosystem));
  return { id, names, record: { ...record, ecosystem } };
}

async function viewIssue(issue: IssueRow, sql: Queries) {
  const { name, severity, score, cvssVersion, cvssVector, severitySource, ids, shared } = issue;
  const records = await boundedRecords(issue, sql);
  const { leftOut: texts, ...summary } = summaryOf(records.shown.map(({ advisory }) => advisory));
  const { leftOut: packages, affected } = affectedPackages(records.shown);
  const aliases = [...ids, ...shared].filter((other) => other !== name);
  return {
    cve_id: name,
    severity,
    cvss_score: score === null ? null : Number(score),
    cvss_version: cvssVersion,
    cvss_vector: cvssVector,
    severity_source: severitySource,
    ...summary,
    aliases: aliases.slice(0, vulnerabilityAliasesMax),
    sources: records.shown.map(({ advisory }) => advisory.id),
    affected,
    left_out: {
      sources: records.total - records.shown.length,
      aliases: Math.max(0, aliases.length - vulnerabilityAliasesMax),
      ...texts,
      ...packages,
    },
  };
}

/** In the order of precedence; advisories about only this issue come before those about several issues. */
async function boundedRecords({ ids, shared }: IssueRow, sql: Queries): Promise<{ shown: BoundedRecord[]; total: number }> {
  const bounds = { records: vulnerabilitySourcesMax, entries: vulnerabilityAffectedMax, versions: vulnerabilityRangesMax };
  const rows = await selectBoundedRecords([...byPrecedence(ids), ...byPrecedence(shared)], bounds, sql);
  const shown = rows.map(({ record, entries, versions }) => ({ advisory: readAdvisory(record), entries, versions }));
  return { shown, total: rows[0]?.records ?? 0 };
}

async function viewOccurrences(where: InScope, sql: Queries) {
  const { total, components, projects } = await countOccurrences(where, sql);
  const rows = total === 0 ? [] : await selectOccurrences({ ...where, limit: vulnerabilityOccurrencesMax }, sql);
  const first = rows.find(({ live }) => live);
  return {
    affected_component: first === undefined ? null : componentOf(first),
    affected_project: first?.projectName ?? null,
    fix_version: first?.fixVersion ?? null,
    ecosystem: first === undefined ? null : ecosystemNameOf(first.ecosystem),
    affected_components_count: components,
    affected_projects_count: projects,
    occurrences: rows.map((row) => ({
      finding_id: row.finding,
      status: row.status,
      false_positive: row.falsePositive,
      component: row.component,
      component_version: row.version,
      project_id: row.project,
      project: row.projectName,
      fix_version: row.fixVersion,
    })),
    occurrences_total: total,
  };
}

function componentOf({ component, version }: OccurrenceRow): string {
  return version === "" ? component : `${component}@${version}`;
}

/** @returns null when packages of several ecosystems are affected */
function onlyEcosystem(ecosystems: readonly string[]): string | null {
  const [only, ...more] = new Set(ecosystems);
  return more.length === 0 ? (only ?? null) : null;
}
