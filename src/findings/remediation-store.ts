import { arrayText } from "../backing/array-text.ts";
import type { Queries } from "../backing/backing.ts";
import type { WorkspaceId } from "../kernel/ids.ts";
import type { Ecosystem } from "../versions/ecosystem.ts";

export async function selectDocument(
  { workspace, project }: { workspace: WorkspaceId; project: string },
  sql: Queries,
): Promise<{ sbom: string | null } | undefined> {
  const [row] = await sql<{ sbom: string | null }[]>`
    SELECT sbom_id AS sbom FROM projects WHERE id = ${project} AND workspace_id = ${workspace}`;
  return row;
}

/** Findings of a project, or one of them. */
export type Asked = { project: string; finding: string | null };

export interface ToRemedyRow {
  id: string;
  name: string;
  severity: "critical" | "high" | "medium" | "low" | null;
  score: number | null;
  package: bigint;
  ecosystem: Ecosystem;
  version: string;
  vulnerability: bigint;
  component: string;
  purl: string | null;
}

/** The worst first; of a project those that are open. */
export async function selectToRemedy({ project, finding }: Asked, limit: number, sql: Queries): Promise<ToRemedyRow[]> {
  return sql<ToRemedyRow[]>`
    SELECT findings.id, vulnerabilities.name, vulnerabilities.severity, vulnerabilities.score::float8 AS score,
      findings.package_id AS package, packages.ecosystem, findings.version, findings.vulnerability_id AS vulnerability, findings.component,
      findings.purl
    FROM findings
    JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
    JOIN packages ON packages.id = findings.package_id
    WHERE findings.project_id = ${project} AND ${finding === null ? openFindings(sql) : sql`findings.id = ${finding}`}
    ORDER BY findings.rank DESC, findings.id
    LIMIT ${limit}`;
}

export interface VulnerableRow {
  package: bigint;
  ecosystem: Ecosystem;
  version: string;
  component: string;
  purl: string | null;
  open: number;
}

/** Versions of packages with open findings, those with the worst first; of one finding, its own whatever its state. */
export async function selectVulnerable({ project, finding }: Asked, limit: number, sql: Queries): Promise<VulnerableRow[]> {
  return sql<VulnerableRow[]>`
    SELECT findings.package_id AS package, packages.ecosystem, findings.version, min(findings.component) AS component,
      min(findings.purl) AS purl, (count(*) FILTER (WHERE ${openFindings(sql)}))::integer AS open
    FROM findings
    JOIN packages ON packages.id = findings.package_id
    WHERE findings.project_id = ${project} AND ${
      finding === null
        ? openFindings(sql)
        : sql`(findings.package_id, findings.version) IN (SELECT package_id, version FROM findings WHERE id = ${finding})`
    }
    GROUP BY findings.package_id, packages.ecosystem, findings.version
    ORDER BY max(findings.rank) DESC, findings.package_id, findings.version
    LIMIT ${limit}`;
}

export async function countToRemedy(project: string, sql: Queries): Promise<{ findings: number; components: number }> {
  const [row] = await sql<{ findings: number; components: number }[]>`
    SELECT count(*)::integer AS findings, count(DISTINCT (package_id, version))::integer AS components
    FROM findings WHERE project_id = ${project} AND ${openFindings(sql)}`;
  return row ?? { findings: 0, components: 0 };
}

function openFindings(sql: Queries) {
  return sql`findings.status IN ('open', 'in_progress') AND NOT findings.false_positive`;
}

export interface PlaceRow {
  package: bigint;
  version: string;
  position: number;
  relation: "root" | "direct" | "transitive" | "unknown";
}

/** Where a document has these versions: nearest to the root, where it has one several times. */
export async function selectPlaces(
  { sbom, components }: { sbom: string; components: readonly { package: bigint; version: string }[] },
  sql: Queries,
): Promise<PlaceRow[]> {
  return sql<PlaceRow[]>`
    SELECT DISTINCT ON (place.package_id, place.version)
      place.package_id AS package, place.version, place.position, place.relation
    FROM unnest(
      ${arrayText(components, (one) => one.package)}::bigint[], ${arrayText(components, ({ version }) => version)}::text[])
      AS asked (package_id, version)
    JOIN sbom_components AS place
      ON place.sbom_id = ${sbom} AND place.package_id = asked.package_id AND place.version = asked.version
    ORDER BY place.package_id, place.version, array_position(ARRAY['root', 'direct', 'transitive', 'unknown'], place.relation),
      place.position`;
}

export interface StepRow {
  /** The place that the way leads to. */
  leaf: number;
  name: string;
  version: string | null;
  /** Whether there is a step before it. */
  before: boolean;
}

/** The ways to these places, each from the place upwards. */
export async function selectWays(
  { sbom, places, stepsMax }: { sbom: string; places: readonly number[]; stepsMax: number },
  sql: Queries,
): Promise<StepRow[]> {
  return sql<StepRow[]>`
    WITH RECURSIVE way (leaf, step, name, version, via) AS (
      SELECT position, 1, name, version, via FROM sbom_components
      WHERE sbom_id = ${sbom} AND position = ANY (${arrayText(places, (place) => place)}::integer[])
      UNION ALL
      SELECT way.leaf, way.step + 1, before.name, before.version, before.via
      FROM way JOIN sbom_components AS before ON before.sbom_id = ${sbom} AND before.position = way.via
      WHERE way.step < ${stepsMax})
    SELECT leaf, name, version, via IS NOT NULL AS before FROM way ORDER BY leaf, step`;
}
