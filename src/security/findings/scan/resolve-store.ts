/**
 * The SQL for what a scan has not seen again: findings to resolve, unknown matches to delete, and copies of ranks and products to refresh.
 */
import { arrayText } from "../../../backing/sql-text.ts";
import type { Queries, Transaction } from "../../../backing/backing.ts";
import { componentKey } from "../../sboms/store.ts";
import type { Unknown } from "./match.ts";
import type { FindingKey, PackageVersion } from "./scan-store.ts";
import type { FindingStatus } from "../schema.ts";

/** @param at when the scan began */
export async function upsertUnknowns(
  { project, unknowns, at }: { project: string; unknowns: readonly Unknown[]; at: Date },
  tx: Transaction,
): Promise<void> {
  if (unknowns.length === 0) return;
  await tx`
    INSERT INTO unknown_matches (project_id, package_id, version, version_key, vulnerability_id, reason, seen)
    SELECT ${project}, new.*, ${at}::timestamptz FROM unnest(
      ${arrayText(unknowns, (one) => one.package)}::bigint[], ${arrayText(unknowns, ({ version }) => version)}::text[],
      ${arrayText(unknowns, (one) => one.versionKey)}::text[],
      ${arrayText(unknowns, ({ vulnerability }) => vulnerability)}::bigint[], ${arrayText(unknowns, ({ reason }) => reason)}::text[])
      AS new (package_id, version, version_key, vulnerability_id, reason)
    ON CONFLICT (project_id, package_id, version, vulnerability_id) DO UPDATE SET reason = excluded.reason, seen = excluded.seen`;
}

/** Deletes at most `limit` unknown matches that the scan that began at `since` has not seen. @returns how many */
export async function deleteUnseenUnknowns(
  { project, since, limit }: { project: string; since: Date; limit: number },
  tx: Transaction,
): Promise<number> {
  const gone = await tx`
    DELETE FROM unknown_matches WHERE project_id = ${project} AND ctid = ANY (ARRAY (
      SELECT ctid FROM unknown_matches WHERE project_id = ${project} AND seen < ${since} LIMIT ${limit}))`;
  return gone.count;
}

export interface UnseenRow extends FindingKey {
  id: string;
  status: FindingStatus;
  falsePositive: boolean;
  /** Whether its issue was merged with another one. */
  ended: boolean;
  withdrawn: boolean;
}

/** A finding's position in the order in which a scan checks the findings of a project. */
export interface FindingPosition extends PackageVersion {
  vulnerability: string;
}

/** The position `steps` findings further on; undefined: fewer are left. */
export async function selectPositionAfter(
  { project, after, steps }: { project: string; after: FindingPosition | null; steps: number },
  sql: Queries,
): Promise<FindingPosition | undefined> {
  const [row] = await sql<FindingPosition[]>`
    SELECT package_id::text AS package, version_key AS version, vulnerability_id::text AS vulnerability FROM findings
    WHERE project_id = ${project} ${after === null ? sql`` : sql`AND ${places(sql)} > ${placeOf(after, sql)}`}
    ORDER BY package_id, version_key, vulnerability_id OFFSET ${steps - 1} LIMIT 1`;
  return row;
}

/** Present findings that the scan that began at `since` has not seen, and findings with an outdated copy of the rank or product. */
export async function selectStale(
  range: { project: string; since: Date; after: FindingPosition | null; upto: FindingPosition | null },
  sql: Queries,
): Promise<string[]> {
  const { project, since, after, upto } = range;
  const rows = await sql<{ id: string }[]>`
    SELECT findings.id FROM findings
    JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    JOIN projects ON projects.id = findings.project_id
    WHERE findings.project_id = ${project} ${after === null ? sql`` : sql`AND ${places(sql)} > ${placeOf(after, sql)}`}
      ${upto === null ? sql`` : sql`AND ${places(sql)} <= ${placeOf(upto, sql)}`}
      AND (present AND last_seen < ${since} OR findings.rank <> vulnerabilities.rank
        OR findings.product_id IS DISTINCT FROM projects.product_id)`;
  return rows.map(({ id }) => id);
}

/** Which of these findings are present but not seen by the scan that began at `since`. */
export async function selectUnseen(
  { findings, since }: { findings: readonly string[]; since: Date },
  sql: Queries,
): Promise<UnseenRow[]> {
  return sql<UnseenRow[]>`
    SELECT finding.id, finding.package_id AS package, finding.version_key AS "versionKey", finding.vulnerability_id AS vulnerability, finding.status,
      finding.false_positive AS "falsePositive", vulnerabilities.ended, vulnerabilities.withdrawn
    FROM findings AS finding
    JOIN vulnerabilities ON vulnerabilities.id = finding.vulnerability_id
    WHERE finding.id = ANY (${arrayText(findings, (id) => id)}::text[]) AND finding.present AND finding.last_seen < ${since}`;
}

/** @returns the ids of findings whose version is in the SBOM */
export async function selectInDocument(
  { sbom, findings }: { sbom: string; findings: readonly (FindingKey & { id: string })[] },
  sql: Queries,
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    SELECT asked.id FROM unnest(
      ${arrayText(findings, ({ id }) => id)}::text[], ${arrayText(findings, (one) => one.package)}::bigint[],
      ${arrayText(findings, ({ versionKey }) => versionKey)}::text[]) AS asked (id, package_id, version_key)
    CROSS JOIN LATERAL (
      SELECT FROM sbom_components
      WHERE sbom_id = ${sbom} AND sbom_components.package_id = asked.package_id
        AND ${componentKey(sql`sbom_components`, sql)} = asked.version_key LIMIT 1) AS there`;
  return new Set(rows.map(({ id }) => id));
}

export async function updateToGone(ids: readonly string[], tx: Transaction): Promise<void> {
  await tx`
    UPDATE findings SET present = false, status = 'resolved' WHERE id = ANY (${arrayText(ids, (id) => id)}::text[])`;
}

/** Updates product and rank, which findings copy so that lists read one table. */
export async function updateCopies(
  { findings, product }: { findings: readonly string[]; product: string | null },
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE findings SET rank = vulnerabilities.rank, product_id = ${product}
    FROM vulnerabilities
    WHERE findings.id = ANY (${arrayText(findings, (id) => id)}::text[]) AND vulnerabilities.id = findings.vulnerability_id
      AND (findings.rank <> vulnerabilities.rank OR findings.product_id IS DISTINCT FROM ${product})`;
}

function places(sql: Queries) {
  return sql`(findings.package_id, findings.version_key, findings.vulnerability_id)`;
}

function placeOf({ package: id, version, vulnerability }: FindingPosition, sql: Queries) {
  return sql`(${id}::bigint, ${version}, ${vulnerability}::bigint)`;
}
