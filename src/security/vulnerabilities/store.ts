/**
 * The SQL of one vulnerability: its issues by name, its records cut to the limits of a response, and where it occurs. The database cuts the
 * records, since one may list a hundred thousand versions.
 */
import { arrayText } from "../../backing/sql-text.ts";
import type { Queries } from "../../backing/backing.ts";
import type { SeverityBasis } from "../advisories/issue.ts";
import type { Severity, FindingStatus } from "../findings/schema.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Scope } from "../operation.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";

export interface IssueRow {
  id: bigint;
  name: string;
  severity: Severity | null;
  score: string | null;
  cvssVersion: string | null;
  cvssVector: string | null;
  severitySource: string | null;
  severityBasis: SeverityBasis | null;
  /** Names of this issue only, and names that it shares with other issues. */
  ids: string[];
  shared: string[];
}

/** The issues of a name, the most severe first. @param name in upper case */
export async function selectByName(name: string, sql: Queries): Promise<IssueRow[]> {
  return sql<IssueRow[]>`
    SELECT id, name, severity, score, cvss_version AS "cvssVersion", cvss_vector AS "cvssVector", severity_source AS "severitySource",
      severity_basis AS "severityBasis",
      array(SELECT name FROM vulnerability_names WHERE vulnerability_id = id AND NOT shared ORDER BY name) AS ids,
      array(SELECT name FROM vulnerability_names WHERE vulnerability_id = id AND shared ORDER BY name) AS shared
    FROM vulnerabilities
    WHERE id IN (SELECT vulnerability_id FROM vulnerability_names WHERE upper(name) = ${name})
    ORDER BY rank DESC, name`;
}

interface RecordBounds {
  records: number;
  /** Entries per record. */
  entries: number;
  /** Versions per entry. */
  versions: number;
}

interface RecordRow {
  /** The record, cut to the limits. */
  record: unknown;
  entries: number;
  /** The number of versions that each remaining entry lists. */
  versions: number[];
  /** The number of all records about these names. */
  records: number;
}

/** Records in the order of `names`. */
export async function selectBoundedRecords(names: readonly string[], bounds: RecordBounds, sql: Queries): Promise<RecordRow[]> {
  return sql<RecordRow[]>`
    SELECT (record - 'affected') || jsonb_build_object('affected', entry.list) AS record,
      jsonb_array_length(affected.list) AS entries, entry.versions,
      (SELECT count(*)::integer FROM advisories WHERE id = ANY (${arrayText(names, (name) => name)}::text[])) AS records
    FROM unnest(${arrayText(names, (name) => name)}::text[]) WITH ORDINALITY AS named (id, place)
    JOIN advisories ON advisories.id = named.id
    CROSS JOIN LATERAL (
      SELECT CASE jsonb_typeof(record -> 'affected') WHEN 'array' THEN record -> 'affected' ELSE '[]' END AS list) AS affected
    CROSS JOIN LATERAL (
      SELECT coalesce(jsonb_agg(
          (one - 'ecosystem_specific' - 'database_specific') || jsonb_build_object('versions', ${firstOf("versions", bounds.versions, sql)},
            'database_specific', jsonb_strip_nulls(jsonb_build_object(
              'last_known_affected_version_range', one #> '{database_specific,last_known_affected_version_range}')))
          ORDER BY position), '[]') AS list,
        coalesce(array_agg(CASE jsonb_typeof(one -> 'versions') WHEN 'array' THEN jsonb_array_length(one -> 'versions') ELSE 0 END
          ORDER BY position), '{}') AS versions
      FROM jsonb_array_elements(affected.list) WITH ORDINALITY AS entry (one, position)
      WHERE position <= ${bounds.entries}) AS entry
    ORDER BY named.place LIMIT ${bounds.records}`;
}

export interface InScope {
  vulnerability: bigint;
  workspace: WorkspaceId;
  scope: Scope;
}

interface OccurrenceCounts {
  total: number;
  /** Components with a live finding; `projects` likewise. */
  components: number;
  projects: number;
}

export async function countOccurrences(where: InScope, sql: Queries): Promise<OccurrenceCounts> {
  const [row] = await sql<OccurrenceCounts[]>`
    SELECT count(*)::integer AS total, (count(*) FILTER (WHERE live))::integer AS components,
      (count(DISTINCT project_id) FILTER (WHERE live))::integer AS projects
    FROM findings WHERE ${within(where, sql)}`;
  return row ?? { total: 0, components: 0, projects: 0 };
}

export interface OccurrenceRow {
  finding: string;
  status: FindingStatus;
  falsePositive: boolean;
  component: string;
  version: string;
  project: string;
  projectName: string;
  fixVersion: string | null;
  ecosystem: Ecosystem;
  live: boolean;
}

/** Live findings first. */
export async function selectOccurrences(
  { limit, ...where }: InScope & { limit: number },
  sql: Queries,
): Promise<OccurrenceRow[]> {
  return sql<OccurrenceRow[]>`
    SELECT shown.*, projects.name AS "projectName", packages.ecosystem
    FROM (
      SELECT id AS finding, status, false_positive AS "falsePositive", component, version, project_id AS project, package_id,
        fix_version AS "fixVersion", live
      FROM findings WHERE ${within(where, sql)}
      ORDER BY live DESC, id LIMIT ${limit}) AS shown
    JOIN projects ON projects.id = shown.project JOIN packages ON packages.id = shown.package_id
    ORDER BY live DESC, finding`;
}

function firstOf(field: string, most: number, sql: Queries) {
  return sql`jsonb_path_query_array(one, ${`$.${field}[0 to ${most - 1}]`}::text::jsonpath)`;
}

function within({ vulnerability, workspace, scope }: InScope, sql: Queries) {
  return sql`
    vulnerability_id = ${vulnerability} AND workspace_id = ${workspace}
    ${scope.kind === "product" ? sql`AND product_id = ${scope.id}` : sql``}
    ${scope.kind === "project" ? sql`AND project_id = ${scope.id}` : sql``}`;
}

export interface ExploitFacts {
  epss: number | null;
  percentile: number | null;
  /** A date such as 2021-12-10. */
  kevAdded: string | null;
}

/** undefined: nothing is known. */
export async function selectExploit(vulnerability: bigint, sql: Queries): Promise<ExploitFacts | undefined> {
  return (await selectExploits([vulnerability], sql)).get(vulnerability);
}

/** What is known about issues, by any of their CVE ids; those of which nothing is known are left out. */
export async function selectExploits(vulnerabilities: readonly bigint[], sql: Queries): Promise<Map<bigint, ExploitFacts>> {
  const rows = await sql<(ExploitFacts & { id: bigint })[]>`
    SELECT names.vulnerability_id AS id, max(epss) AS epss, max(percentile) AS percentile, min(kev_added)::text AS "kevAdded"
    FROM vulnerability_names AS names JOIN exploits ON exploits.cve = names.name
    WHERE names.vulnerability_id = ANY (${arrayText(vulnerabilities, String)}::bigint[]) AND NOT names.shared
    GROUP BY names.vulnerability_id`;
  return new Map(rows.map((row) => [row.id, row]));
}
