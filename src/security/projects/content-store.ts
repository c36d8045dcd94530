/**
 * The SQL for what a project's page shows and counts, and for removing its former SBOMs in steps. Findings are counted in key order, page
 * by page. A marked SBOM cannot become current again, because marking locks the project.
 */
import type { Database, Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { inKeyOrder, type FindingPlace } from "../findings/lists/list-store.ts";

interface UnknownRow {
  component: string;
  version: string;
  /** The issue's name. */
  issue: string;
  reason: string;
}

export async function selectUnknowns(
  { project, limit }: { project: string; limit: number },
  sql: Queries,
): Promise<UnknownRow[]> {
  return sql<UnknownRow[]>`
    SELECT packages.name AS component, u.version, vulnerabilities.name AS issue, u.reason
    FROM unknown_matches u
    JOIN packages ON packages.id = u.package_id
    JOIN vulnerabilities ON vulnerabilities.id = u.vulnerability_id
    WHERE u.project_id = ${project}
    ORDER BY u.package_id, u.version, u.vulnerability_id LIMIT ${limit}`;
}

export async function countUnknowns(project: string, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM unknown_matches WHERE project_id = ${project}`;
  return row?.count ?? 0;
}

export interface Metrics {
  vulnerableComponents: number;
  open: number;
  inProgress: number;
  ignored: number;
  notAffected: number;
  resolved: number;
  falsePositives: number;
  fixable: number;
}

/** Findings by status, counted as in lists. */
export async function selectStatusCounts(
  project: string,
  sql: Queries,
): Promise<Pick<Metrics, "open" | "inProgress" | "ignored" | "notAffected" | "resolved" | "falsePositives">> {
  const [row] = await sql<Metrics[]>`
    SELECT coalesce(sum(amount) FILTER (WHERE status = 'open'), 0)::integer AS open,
      coalesce(sum(amount) FILTER (WHERE status = 'in_progress'), 0)::integer AS "inProgress",
      coalesce(sum(amount) FILTER (WHERE status = 'ignored'), 0)::integer AS ignored,
      coalesce(sum(amount) FILTER (WHERE status = 'not_affected'), 0)::integer AS "notAffected",
      coalesce(sum(amount) FILTER (WHERE status = 'resolved'), 0)::integer AS resolved,
      coalesce(sum(amount) FILTER (WHERE false_positive), 0)::integer AS "falsePositives"
    FROM finding_buckets WHERE scope_id = ${project} AND depth = 0`;
  if (row === undefined) throw new Error("Counting gave no row");
  return row;
}

/** A version of a package by its key, the unit of comparison. */
export type VersionPlace = Pick<FindingPlace, "package" | "version">;

/** @returns the version with the last of the next `limit` findings of a project; null: fewer are left */
export async function selectVersionAfter(
  { project, after, limit }: { project: string; after: VersionPlace; limit: number },
  sql: Database,
): Promise<VersionPlace | null> {
  const select = (tx: Transaction) => tx<VersionPlace[]>`
    SELECT package_id AS package, version_key AS version FROM findings
    WHERE project_id = ${project} AND (package_id, version_key) > (${after.package}::bigint, ${after.version})
    ORDER BY package_id, version_key, vulnerability_id OFFSET ${limit - 1} LIMIT 1`;
  const [row] = await inKeyOrder(select, sql);
  return row ?? null;
}

/** Counts the live findings of the versions after `after`, up to and including `last`. @param last null: up to the end */
export async function selectLiveCounts(
  { project, after, last }: { project: string; after: VersionPlace; last: VersionPlace | null },
  sql: Queries,
): Promise<Pick<Metrics, "vulnerableComponents" | "fixable">> {
  const end = last === null ? sql`` : sql`AND (package_id, version_key) <= (${last.package}::bigint, ${last.version})`;
  const [row] = await sql<Pick<Metrics, "vulnerableComponents" | "fixable">[]>`
    SELECT (count(*) FILTER (WHERE live))::integer AS "vulnerableComponents", coalesce(sum(fixable), 0)::integer AS fixable
    FROM (
      SELECT bool_or(live) AS live, count(*) FILTER (WHERE live AND fix_version IS NOT NULL) AS fixable FROM findings
      WHERE project_id = ${project} AND (package_id, version_key) > (${after.package}::bigint, ${after.version}) ${end}
      GROUP BY package_id, version_key
    ) AS versions`;
  if (row === undefined) throw new Error("Counting gave no row");
  return row;
}

/** Projects with more SBOMs than are kept. */
export async function selectProjectsOverLimit({ kept, limit }: { kept: number; limit: number }, sql: Queries): Promise<string[]> {
  const rows = await sql<{ project: string }[]>`
    SELECT project_id AS project FROM sboms WHERE NOT removing GROUP BY project_id HAVING count(*) > ${kept} LIMIT ${limit}`;
  return rows.map(({ project }) => project);
}

interface MarkedSbom {
  id: string;
  workspace: WorkspaceId;
}

/** Marks all SBOMs but the current one and the newest of the others. Locks the project, so that no marked SBOM becomes current. */
export async function markFormerSboms(
  { project, kept, limit }: { project: string; kept: number; limit: number },
  tx: Transaction,
): Promise<MarkedSbom[]> {
  await tx`SELECT FROM projects WHERE id = ${project} FOR NO KEY UPDATE`;
  return tx<MarkedSbom[]>`
    UPDATE sboms SET removing = true
    WHERE id IN (
      SELECT sboms.id FROM sboms JOIN projects ON projects.id = sboms.project_id
      WHERE project_id = ${project} AND NOT removing AND sboms.id <> coalesce(sbom_id, '')
      ORDER BY sboms.created_at DESC, sboms.id DESC OFFSET ${kept - 1} LIMIT ${limit})
    RETURNING id, workspace_id AS workspace`;
}

export async function selectSbomToRemove(sql: Queries): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`SELECT id FROM sboms WHERE removing ORDER BY id LIMIT 1`;
  return row?.id;
}

const parts = ["finding_sboms", "sbom_edges", "sbom_components"] as const;

/** Deletes at most `limit` rows of an SBOM that is being removed; once no rows are left, also the SBOM. */
export async function deletePartOfSbom({ id, limit }: { id: string; limit: number }, sql: Queries): Promise<void> {
  for (const table of parts) {
    const { count } = await sql`
      DELETE FROM ${sql(table)} WHERE sbom_id = ${id} AND ctid = ANY (ARRAY (
        SELECT ctid FROM ${sql(table)} WHERE sbom_id = ${id} LIMIT ${limit}))`;
    if (count > 0) return;
  }
  await sql`DELETE FROM sboms WHERE id = ${id} AND removing`;
}
