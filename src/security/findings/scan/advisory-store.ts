/**
 * Reads what a scan compares with: all issues of a group of packages, each with the entries of its records. Withdrawn records are not
 * read. A record that names several issues is evidence of each.
 */
import type { Queries } from "../../../backing/backing.ts";
import { arrayText } from "../../../backing/sql-text.ts";
import type { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { readAffected, type OsvAffected } from "../../versions/osv-range.ts";
import type { PackageIssue, RecordEntry } from "./match.ts";

/** All known issues of these packages, by package, in the order of their ids. */
export async function loadIssues(
  packages: readonly bigint[],
  { sql, yielder }: { sql: Queries; yielder: EventLoopYielder },
): Promise<Map<bigint, PackageIssue[]>> {
  const rows = await selectEntries(packages, sql);
  const subjects = await selectRecordIssues([...new Set(rows.map(({ source }) => source))], sql);
  const bySource = Map.groupBy(subjects, ({ source }) => source);
  const issues = new Map<bigint, Map<bigint, PackageIssue>>();
  for (const { package: id, ecosystem, source, entry, customRanges } of rows) {
    const read: RecordEntry = { source, entry, affected: readAffected({ ecosystem, entry }), customRanges };
    for (const subject of bySource.get(source) ?? []) issueOf(issues, id, subject).entries.push(read);
    await yielder.yieldIfDue();
  }
  return new Map([...issues].map(([id, byVulnerability]) => [id, [...byVulnerability.values()]]));
}

interface EntryRow {
  package: bigint;
  ecosystem: Ecosystem;
  /** Id of the record. */
  source: string;
  entry: OsvAffected;
  /** null if there are none, and for ecosystems other than Go. */
  customRanges: unknown;
}

/** The entries about these packages in records that are not withdrawn, in the order of the records' ids. */
async function selectEntries(packages: readonly bigint[], sql: Queries): Promise<EntryRow[]> {
  return sql<EntryRow[]>`
    SELECT asked.package_id AS package, packages.ecosystem, advisories.id AS source, affected_packages.entry,
      CASE WHEN packages.ecosystem = 'Go' THEN
        advisories.record #> ARRAY['affected', affected_packages.position::text, 'ecosystem_specific', 'custom_ranges'] END AS "customRanges"
    FROM package_records AS asked
    JOIN affected_packages ON affected_packages.package_id = asked.recorded_as
    JOIN packages ON packages.id = affected_packages.package_id
    JOIN advisories ON advisories.id = affected_packages.advisory_id
    WHERE asked.package_id = ANY (${arrayText(packages, (id) => id)}::bigint[]) AND NOT advisories.withdrawn
    ORDER BY asked.package_id, advisories.id, affected_packages.position, affected_packages.package_id`;
}

interface RecordIssueRow {
  source: string;
  vulnerability: bigint;
  rank: number;
}

/** The issues of these records. */
async function selectRecordIssues(sources: readonly string[], sql: Queries): Promise<RecordIssueRow[]> {
  return sql<RecordIssueRow[]>`
    SELECT vulnerability_names.name AS source, vulnerabilities.id AS vulnerability, vulnerabilities.rank
    FROM vulnerability_names
    JOIN vulnerabilities ON vulnerabilities.id = vulnerability_names.vulnerability_id
    WHERE vulnerability_names.name = ANY (${arrayText(sources, (id) => id)}::text[]) AND NOT vulnerabilities.ended
    ORDER BY vulnerabilities.id`;
}

function issueOf(
  issues: Map<bigint, Map<bigint, PackageIssue>>,
  id: bigint,
  { vulnerability, rank }: RecordIssueRow,
): PackageIssue {
  const known = issues.get(id) ?? new Map<bigint, PackageIssue>();
  issues.set(id, known);
  const issue = known.get(vulnerability) ?? { vulnerability, rank, entries: [] };
  known.set(vulnerability, issue);
  return issue;
}
