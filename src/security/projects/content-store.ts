/** The components of a project, its unknown matches and its counts. */
import type { Queries } from "../../backing/backing.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";

export interface ComponentRow {
  position: number;
  name: string;
  version: string | null;
  type: string | null;
  purl: string | null;
  /** null: an unknown one. */
  ecosystem: Ecosystem | null;
  relation: "direct" | "transitive" | "unknown";
  via: number | null;
  scope: string | null;
  licenses: string[];
  /** Why its version cannot be compared with an advisory; null: it can be. */
  unknown: string | null;
  /** Its live findings. */
  vulnerabilities: number;
}

/** The first components of an SBOM in the SBOM's order, without the root. */
export async function selectComponents(
  { project, sbom, limit }: { project: string; sbom: string; limit: number },
  sql: Queries,
): Promise<ComponentRow[]> {
  return sql<ComponentRow[]>`
    SELECT c.position, c.name, c.version, c.type, c.purl, packages.ecosystem, c.relation, c.via, c.scope, c.licenses,
      (SELECT min(reason) FROM unknown_matches AS u
        WHERE u.project_id = ${project} AND u.package_id = c.package_id AND u.version = coalesce(c.version, '')) AS unknown,
      (SELECT count(*)::integer FROM findings AS f
        WHERE f.project_id = ${project} AND f.package_id = c.package_id AND f.version = coalesce(c.version, '')
          AND f.live) AS vulnerabilities
    FROM sbom_components c LEFT JOIN packages ON packages.id = c.package_id
    WHERE c.sbom_id = ${sbom} AND c.position > 0
    ORDER BY c.position LIMIT ${limit}`;
}

export interface UnknownRow {
  component: string;
  version: string;
  /** Name of the issue. */
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
  resolved: number;
  falsePositives: number;
  fixable: number;
}

export async function selectMetrics(project: string, sql: Queries): Promise<Metrics> {
  const [row] = await sql<Metrics[]>`
    SELECT count(DISTINCT (package_id, version)) FILTER (WHERE live)::integer AS "vulnerableComponents",
      count(*) FILTER (WHERE status = 'open')::integer AS open,
      count(*) FILTER (WHERE status = 'in_progress')::integer AS "inProgress",
      count(*) FILTER (WHERE status = 'ignored')::integer AS ignored,
      count(*) FILTER (WHERE status = 'resolved')::integer AS resolved,
      count(*) FILTER (WHERE false_positive)::integer AS "falsePositives",
      count(*) FILTER (WHERE live AND fix_version IS NOT NULL)::integer AS fixable
    FROM findings WHERE project_id = ${project}`;
  if (row === undefined) throw new Error("Counting gave no row");
  return row;
}
