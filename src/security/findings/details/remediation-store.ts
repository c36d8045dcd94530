/**
 * The SQL of remediations: the findings to fix, the vulnerable versions of a project's packages, and where they are in the SBOM. The most
 * severe rows come first, in list order.
 */
import type { Queries } from "../../../backing/backing.ts";
import { arrayText } from "../../../backing/sql-text.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { Page } from "../../fields.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { componentKey } from "../../sboms/store.ts";
import { versionKey } from "../../versions/version-to-match.ts";
import { pageOfScope, totalOfScope, type Listed } from "../lists/finding-list-store.ts";
import { nameShown, rowsAtMost } from "../lists/list-store.ts";
import { ranksOf } from "../schema.ts";

export async function selectDocument(
  { workspace, project }: { workspace: WorkspaceId; project: string },
  sql: Queries,
): Promise<{ sbom: string | null } | undefined> {
  const [row] = await sql<{ sbom: string | null }[]>`
    SELECT sbom_id AS sbom FROM projects WHERE id = ${project} AND workspace_id = ${workspace}`;
  return row;
}

/** The live findings of a project, or one finding in any state. */
export interface RemediationQuery {
  project: string;
  finding: string | null;
  page: Page;
}

export interface FindingToFixRow {
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

/** The most severe first, in list order. */
export async function selectFindingsToFix(
  { project, finding, page }: RemediationQuery,
  sql: Queries,
): Promise<Listed<FindingToFixRow>> {
  const filter = { scope: { kind: "project", id: project }, shown: "live", ranks: ranksOf("all"), page } as const;
  const rows = await sql<(({ total: number } & FindingToFixRow) | { total: number; id: null })[]>`
    WITH ${
      finding === null
        ? pageOfScope(filter, sql)
        : sql`page AS (SELECT id, rank FROM findings WHERE id = ${finding} OFFSET ${page.offset} LIMIT ${page.limit})`
    }
    SELECT ${finding === null ? sql`${totalOfScope(sql)}::integer` : sql`1`} AS total, row.*
    FROM (SELECT) AS one
    LEFT JOIN (
      SELECT findings.id, vulnerabilities.name, vulnerabilities.severity, vulnerabilities.score::float8 AS score,
        findings.package_id AS package, packages.ecosystem, findings.version, findings.vulnerability_id AS vulnerability,
        ${nameShown(sql`findings.component`, sql)} AS component, findings.purl, page.rank
      FROM page
      JOIN findings ON findings.id = page.id
      JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
      JOIN packages ON packages.id = findings.package_id
    ) AS row ON true
    ORDER BY row.rank DESC, row.id`;
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.id !== null) };
}

export interface VulnerableRow {
  package: bigint;
  ecosystem: Ecosystem;
  version: string;
  component: string;
  purl: string | null;
  open: number;
  /** The highest of its findings. */
  rank: number;
}

/** Versions of packages with live findings, the most severe first. For one finding, its own version, in any state. */
export async function selectVulnerable(
  { project, finding, page }: RemediationQuery,
  sql: Queries,
): Promise<Listed<VulnerableRow>> {
  const state =
    finding === null ? sql`live` : sql`(package_id, version) IN (SELECT package_id, version FROM findings WHERE id = ${finding})`;
  const rows = await sql<(({ total: number } & VulnerableRow) | { total: number; component: null })[]>`
    WITH counted AS MATERIALIZED (
      SELECT package_id, version, max(rank) AS rank, (count(*) FILTER (WHERE live))::integer AS open
      FROM findings WHERE project_id = ${project} AND ${state}
      GROUP BY package_id, version
    ), page AS MATERIALIZED (
      SELECT * FROM (
        SELECT * FROM counted ORDER BY rank DESC, package_id, version OFFSET ${page.offset} LIMIT ${page.limit}
      ) AS few LIMIT ${rowsAtMost(sql)}
    )
    SELECT (SELECT count(*) FROM counted)::integer AS total, row.*
    FROM (SELECT) AS one
    LEFT JOIN (
      SELECT page.package_id AS package, packages.ecosystem, page.version, shown.component, shown.purl, page.open, page.rank
      FROM page
      JOIN packages ON packages.id = page.package_id
      CROSS JOIN LATERAL (
        SELECT ${nameShown(sql`min(component)`, sql)} AS component, min(purl) AS purl FROM findings
        WHERE project_id = ${project} AND findings.package_id = page.package_id AND findings.version = page.version AND ${state}
      ) AS shown
    ) AS row ON true
    ORDER BY row.rank DESC, row.package, row.version`;
  return { total: rows[0]?.total ?? 0, rows: rows.filter((row) => row.component !== null) };
}

export interface PositionRow {
  package: bigint;
  version: string;
  position: number;
  relation: "root" | "direct" | "transitive" | "unknown";
}

/** The positions of these versions in an SBOM. If a version occurs several times, the position nearest to the root. */
export async function selectPositions(
  { sbom, components }: { sbom: string; components: readonly Pick<VulnerableRow, "package" | "ecosystem" | "version">[] },
  sql: Queries,
): Promise<PositionRow[]> {
  return sql<PositionRow[]>`
    SELECT DISTINCT ON (place.package_id, asked.version)
      place.package_id AS package, asked.version, place.position, place.relation
    FROM unnest(
      ${arrayText(components, (one) => one.package)}::bigint[], ${arrayText(components, ({ version }) => version)}::text[],
      ${arrayText(components, versionKey)}::text[]) AS asked (package_id, version, key)
    JOIN sbom_components AS place
      ON place.sbom_id = ${sbom} AND place.package_id = asked.package_id AND ${componentKey(sql`place`, sql)} = asked.key
    ORDER BY place.package_id, asked.version, array_position(ARRAY['root', 'direct', 'transitive', 'unknown'], place.relation),
      place.position`;
}
