/**
 * The SQL for what scans can compare with. A completed scan is a verdict only if advisories are known for an ecosystem of its components.
 *
 * An ecosystem is known once it has a record that is not withdrawn; if a synchronization brings its first records, it must have ended. This
 * status is not stored, so the end of a first synchronization changes it at once. Nothing has to be scanned for that: new advisories have
 * already caused scans of the projects with an affected package.
 */
import type { Queries } from "../../backing/backing.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";

/** Whether there is something to compare with, as a condition on columns of `advisory_ecosystems`. */
export function isKnown(sql: Queries) {
  return sql`(imported_at IS NOT NULL AND sync_began_at IS NULL)`;
}

/** Whether any component of the project's SBOM can be compared with advisories. */
export function isComparable(sql: Queries) {
  return sql`EXISTS (
    SELECT FROM sbom_ecosystems JOIN advisory_ecosystems USING (ecosystem)
    WHERE sbom_id = projects.sbom_id AND components > unreadable AND ${isKnown(sql)})`;
}

/** Components of ecosystems without advisories, and those without a readable version. */
export function notCompared(sql: Queries) {
  return sql`(
    SELECT coalesce(sum(CASE WHEN ${isKnown(sql)} THEN unreadable ELSE components END), 0)::integer
    FROM sbom_ecosystems LEFT JOIN advisory_ecosystems USING (ecosystem) WHERE sbom_id = projects.sbom_id)`;
}

interface EcosystemCountRow {
  /** Empty: no known one. */
  ecosystem: Ecosystem | "";
  components: number;
  unreadable: number;
}

/** The largest group first; components of unknown ecosystems last. */
export async function selectEcosystemCounts(sbom: string, sql: Queries): Promise<EcosystemCountRow[]> {
  return sql<EcosystemCountRow[]>`
    SELECT ecosystem, components, unreadable FROM sbom_ecosystems WHERE sbom_id = ${sbom}
    ORDER BY ecosystem = '', components DESC, ecosystem`;
}

interface ScanTotals {
  /** Projects that have been scanned, even if another scan waits or has failed since. */
  scanned: number;
  /** How many of these could not be compared with any advisory. */
  notComparable: number;
}

/** @param scope by the id of a workspace, a product or a project */
export async function selectScanTotals(
  { kind, id }: { kind: "workspace" | "product" | "project"; id: string },
  sql: Queries,
): Promise<ScanTotals> {
  const column = { workspace: sql`workspace_id`, product: sql`product_id`, project: sql`id` }[kind];
  const [row] = await sql<ScanTotals[]>`
    SELECT count(*)::integer AS scanned, count(*) FILTER (WHERE NOT ${isComparable(sql)})::integer AS "notComparable"
    FROM projects WHERE last_scanned_at IS NOT NULL AND ${column} = ${id}`;
  return row ?? { scanned: 0, notComparable: 0 };
}
