/**
 * The SQL with which a scan reads components and writes findings and events. LIMIT clauses make the planner use an index even without
 * statistics.
 */
import type { Changes } from "../../../accounts/audit/store.ts";
import type { Queries, Transaction } from "../../../backing/backing.ts";
import { arrayText } from "../../../backing/sql-text.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { componentKey } from "../../sboms/store.ts";
import type { FindingStatus } from "../schema.ts";
import type { DecisionScope } from "../triage-store.ts";
import type { Cause } from "../transitions.ts";
import type { Evidence, Component } from "./match.ts";

/**
 * Packages with advisories, in any spelling, and the number of their components, at `positions` positions of an SBOM starting at `from`.
 * The limit makes the planner use the index for each position, even without statistics.
 * @param least the first package; null: all packages
 */
export async function selectPackagesWithRecords(
  { sbom, from, positions, least }: { sbom: string; from: number; positions: number; least: bigint | null },
  sql: Queries,
): Promise<{ id: bigint; components: number }[]> {
  return sql<{ id: bigint; components: number }[]>`
    SELECT component.package_id AS id, count(*)::integer AS components FROM sbom_components AS component
    CROSS JOIN LATERAL (SELECT FROM package_records WHERE package_records.package_id = component.package_id LIMIT 1) AS record
    WHERE sbom_id = ${sbom} AND position >= ${from}::integer AND position < ${from}::integer + ${positions}::integer
      AND component.package_id ${least === null ? sql`IS NOT NULL` : sql`>= ${least}`}
    GROUP BY component.package_id`;
}

/** Counts the components of an SBOM, including its root. */
export async function countPositions(sbom: string, sql: Queries): Promise<number> {
  const [row] = await sql<
    { positions: number }[]
  >`SELECT max(position) + 1 AS positions FROM sbom_components WHERE sbom_id = ${sbom}`;
  return row?.positions ?? 0;
}

/** The next versions of these packages, by package and version key. Each appears once, as its first component in the SBOM. */
export async function selectComponents(
  { sbom, packages, after, limit }: { sbom: string; packages: readonly bigint[]; after: PackageVersion | null; limit: number },
  sql: Queries,
): Promise<PlacedComponent[]> {
  const key = componentKey(sql`component`, sql);
  return sql<PlacedComponent[]>`
    SELECT DISTINCT ON (component.package_id, ${key})
      component.package_id AS package, ${key} AS key, packages.ecosystem, component.version, component.name, component.purl
    FROM sbom_components AS component
    JOIN packages ON packages.id = component.package_id
    WHERE component.sbom_id = ${sbom} AND component.package_id = ANY (${arrayText(packages, (id) => id)}::bigint[])
      ${after === null ? sql`` : sql`AND (component.package_id, ${key}) > (${after.package}::bigint, ${after.version})`}
    ORDER BY component.package_id, ${key}, component.position LIMIT ${limit}`;
}

interface PlacedComponent extends Component {
  /** The key of its version. */
  key: string;
}

/** A version of a package by its key; '' means no version. */
export interface PackageVersion {
  package: string;
  version: string;
}

/** The unique key of a finding in a project. */
export interface FindingKey {
  package: bigint;
  versionKey: string;
  vulnerability: bigint;
}

export interface KnownFindingRow extends FindingKey {
  id: string;
  version: string;
  status: FindingStatus;
  falsePositive: boolean;
  present: boolean;
  rank: number;
  component: string;
  purl: string | null;
  fixVersion: string | null;
  evidence: Evidence;
}

/** The limit makes the planner look up each key in the index, even without statistics. */
export async function selectFindings(
  { project, keys }: { project: string; keys: readonly FindingKey[] },
  sql: Queries,
): Promise<KnownFindingRow[]> {
  return sql<KnownFindingRow[]>`
    SELECT id, finding.package_id AS package, finding.version, finding.version_key AS "versionKey",
      finding.vulnerability_id AS vulnerability, status,
      false_positive AS "falsePositive", present, rank, component, purl, fix_version AS "fixVersion", evidence
    FROM unnest(
      ${arrayText(keys, (key) => key.package)}::bigint[], ${arrayText(keys, (key) => key.versionKey)}::text[],
      ${arrayText(keys, (key) => key.vulnerability)}::bigint[]) AS key (package_id, version_key, vulnerability_id)
    CROSS JOIN LATERAL (
      SELECT * FROM findings
      WHERE findings.project_id = ${project} AND findings.package_id = key.package_id AND findings.version_key = key.version_key
        AND findings.vulnerability_id = key.vulnerability_id LIMIT 1) AS finding`;
}

export interface StoredFinding extends FindingKey {
  id: string;
  version: string;
  status: FindingStatus;
  falsePositive: boolean;
  rank: number;
  component: string;
  purl: string | null;
  fixVersion: string | null;
  evidence: Evidence;
}

interface Owner {
  workspace: WorkspaceId;
  product: string | null;
  project: string;
  at: Date;
}

export async function insertFindings(
  findings: readonly StoredFinding[],
  { workspace, product, project, at }: Owner,
  tx: Transaction,
): Promise<void> {
  if (findings.length === 0) return;
  await tx`
    INSERT INTO findings (id, workspace_id, product_id, project_id, package_id, version, version_key, vulnerability_id, component, purl,
      status, false_positive, present, rank, fix_version, evidence, first_seen, last_seen)
    SELECT id, ${workspace}, ${product}, ${project}, package, version, "versionKey", vulnerability, component, purl, status,
      "falsePositive", true, rank, "fixVersion", evidence, ${at}::timestamptz, ${at}::timestamptz
    FROM jsonb_to_recordset(${tx.json(findings.map(jsonOf))}) AS new (id text, package bigint, version text, "versionKey" text, vulnerability bigint,
      component text, purl text, status text, "falsePositive" boolean, rank smallint, "fixVersion" text, evidence jsonb)`;
}

/** Marks findings as present, with new data. */
export async function updateFindings(findings: readonly StoredFinding[], at: Date, tx: Transaction): Promise<void> {
  if (findings.length === 0) return;
  await tx`
    UPDATE findings SET component = new.component, purl = new.purl, status = new.status, false_positive = new."falsePositive",
      present = true, rank = new.rank, fix_version = new."fixVersion", evidence = new.evidence, last_seen = ${at}
    FROM jsonb_to_recordset(${tx.json(findings.map(jsonOf))}) AS new (id text, component text, purl text, status text,
      "falsePositive" boolean, rank smallint, "fixVersion" text, evidence jsonb)
    WHERE findings.id = new.id`;
}

/** Marks unchanged findings as seen. */
export async function updateLastSeen(ids: readonly string[], at: Date, tx: Transaction): Promise<void> {
  if (ids.length === 0) return;
  await tx`UPDATE findings SET last_seen = ${at} WHERE id = ANY (${arrayText(ids, (id) => id)}::text[])`;
}

export async function insertOccurrences(
  { sbom, findings }: { sbom: string; findings: readonly string[] },
  tx: Transaction,
): Promise<void> {
  if (findings.length === 0) return;
  await tx`
    INSERT INTO finding_sboms (sbom_id, finding_id)
    SELECT ${sbom}, id FROM unnest(${arrayText(findings, (id) => id)}::text[]) AS new (id)
    ON CONFLICT DO NOTHING`;
}

/** Findings of these issues in these packages that this scan has seen and that are resolved by a decision. */
export async function selectSeenAsResolved(
  { project, scopes, at }: { project: string; scopes: readonly DecisionScope[]; at: Date },
  sql: Queries,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT finding.id FROM unnest(
      ${arrayText(scopes, (scope) => scope.package)}::bigint[], ${arrayText(scopes, (scope) => scope.vulnerability)}::bigint[],
      ${arrayText(scopes, ({ version }) => version)}::text[]) AS scope (package_id, vulnerability_id, version)
    CROSS JOIN LATERAL (
      SELECT id FROM findings
      WHERE findings.project_id = ${project} AND findings.package_id = scope.package_id
        AND findings.vulnerability_id = scope.vulnerability_id AND last_seen = ${at} AND present AND status = 'resolved'
        AND CASE WHEN scope.version <> '' THEN findings.version = scope.version ELSE NOT EXISTS (
          SELECT FROM triages
          WHERE triages.project_id = ${project} AND triages.package_id = scope.package_id
            AND triages.vulnerability_id = scope.vulnerability_id AND triages.version = findings.version) END) AS finding`;
  return rows.map(({ id }) => id);
}

export interface NewEvent {
  finding: string;
  cause: Cause;
  changes: Changes;
}

/** @param actor an email address, or `scanner` */
export async function insertEvents(
  events: readonly NewEvent[],
  { actor, at }: { actor: string; at: Date },
  tx: Transaction,
): Promise<void> {
  if (events.length === 0) return;
  await tx`
    INSERT INTO finding_events (finding_id, project_id, at, actor, cause, changes)
    SELECT finding, project_id, ${at}::timestamptz, ${actor}, cause, changes
    FROM ROWS FROM (jsonb_to_recordset(${tx.json(events as never)}) AS (finding text, cause text, changes jsonb))
      WITH ORDINALITY AS new (finding, cause, changes, place)
    CROSS JOIN LATERAL (SELECT project_id FROM findings WHERE findings.id = finding LIMIT 1) AS its ORDER BY place`;
}

export interface FreshFinding {
  id: string;
  name: string;
  rank: number;
  component: string;
  version: string;
  fixVersion: string | null;
}

/** The most severe of the live findings that this scan was the first to see. */
export async function selectFresh(
  { project, at, limit }: { project: string; at: Date; limit: number },
  sql: Queries,
): Promise<FreshFinding[]> {
  return sql<FreshFinding[]>`
    SELECT findings.id, vulnerabilities.name, findings.rank, findings.component, findings.version, findings.fix_version AS "fixVersion"
    FROM findings JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    WHERE project_id = ${project} AND first_seen = ${at} AND live ORDER BY findings.rank DESC, findings.id LIMIT ${limit}`;
}

export async function selectProjectName(project: string, sql: Queries): Promise<string> {
  const [row] = await sql<{ name: string }[]>`SELECT name FROM projects WHERE id = ${project}`;
  return row?.name ?? "";
}

/** JSON has no bigint. */
function jsonOf(finding: StoredFinding) {
  return { ...finding, package: String(finding.package), vulnerability: String(finding.vulnerability) } as never;
}
