/**
 * The SQL of the list of findings. A page and its total come from one snapshot, and a page at any offset takes the same time, because
 * `list-store.ts` finds its rows by counts. `finding-search-store.ts` handles conditions that no index serves.
 */
import { arrayText } from "../../../backing/sql-text.ts";
import type { Queries } from "../../../backing/backing.ts";
import { findingSbomsShownMax } from "../../limits.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { SeverityBasis } from "../../advisories/issue.ts";
import type { Page } from "../../fields.ts";
import type { Ecosystem } from "../../versions/ecosystem.ts";
import { nameShown, rowsAtMost, stepsToPage, type Fragment, type ListScope } from "./list-store.ts";
import { findingStatuses, type FindingStatus } from "../schema.ts";

export interface FindingFilter {
  /** `false_positive`: flagged, in any status; `live`: open or in progress, not flagged; a status: flagged or not. */
  shown: FindingStatus | "false_positive" | "live" | "all";
  /** The lowest and the highest rank. */
  ranks: readonly [number, number];
  page: Page;
}

export interface ListedFinding {
  id: string;
  vulnerability: string;
  rank: number;
  /** Whether the score is 0.0: its rank is the same as for no score. */
  scoredZero: boolean | null;
  severityBasis: SeverityBasis | null;
  status: FindingStatus;
  falsePositive: boolean;
  component: string;
  version: string;
  ecosystem: Ecosystem;
  purl: string | null;
  fixVersion: string | null;
  project: string;
  projectName: string;
  /** The newest first; at most `findingSbomsShownMax`. */
  sboms: string[];
  firstSeen: Date;
  lastSeen: Date;
  source: string | null;
  range: string | null;
  comparator: string | null;
  listed: string | null;
}

export interface Listed<T> {
  total: number;
  rows: T[];
}

/** A page of a workspace, product or project by rank, then id, and the total, both from one snapshot. */
export async function selectFindingPage(
  filter: FindingFilter & { scope: ListScope },
  sql: Queries,
): Promise<Listed<ListedFinding>> {
  const rows = await sql<PageRow[]>`WITH ${pageOfScope(filter, sql)} ${shownRows(totalOfScope(sql), sql)}`;
  return listed(rows);
}

/** Common table expressions; the last one, `page`, has the ids and ranks of the findings. */
export function pageOfScope({ scope, shown, ranks, page }: FindingFilter & { scope: ListScope }, sql: Queries): Fragment {
  return sql`
    ${stepsToPage({ buckets: "finding_buckets", scope, ranks, matching: matching(shown, sql), page }, sql)}, page AS MATERIALIZED (
      SELECT found.id, needed.rank FROM needed
      CROSS JOIN LATERAL (
        SELECT id FROM (${streams({ scope, shown }, sql)}) AS stream ORDER BY id OFFSET needed.skip LIMIT needed.take
      ) AS found
      LIMIT ${rowsAtMost(sql)}
    )`;
}

/** The total of the list, for a statement with `pageOfScope`. */
export function totalOfScope(sql: Queries): Fragment {
  return sql`coalesce((SELECT max(upto) FROM ranks), 0)`;
}

/** A page of the findings of an SBOM, with its total. */
export async function selectOccurrencePage(
  { sbom, shown, ranks: [lowest, highest], page }: FindingFilter & { sbom: string },
  sql: Queries,
): Promise<Listed<ListedFinding>> {
  const occurring = sql`
    FROM finding_sboms WHERE sbom_id = ${sbom} AND rank BETWEEN ${lowest} AND ${highest} AND ${matching(shown, sql)}`;
  const rows = await sql<PageRow[]>`
    WITH few AS MATERIALIZED (
      SELECT finding_id AS id, rank ${occurring} ORDER BY rank DESC, finding_id OFFSET ${page.offset} LIMIT ${page.limit}
    ), page AS MATERIALIZED (SELECT * FROM few LIMIT ${rowsAtMost(sql)})
    ${shownRows(sql`(SELECT count(*) ${occurring})`, sql)}`;
  return listed(rows);
}

/** The rows of these findings, in list order. */
export async function selectFindingRows(ids: readonly string[], sql: Queries): Promise<ListedFinding[]> {
  const rows = await sql<PageRow[]>`
    WITH page AS MATERIALIZED (SELECT id, rank FROM findings WHERE id = ANY (${arrayText(ids, (id) => id)}::text[]))
    ${shownRows(sql`0`, sql)}`;
  return listed(rows).rows;
}

/** @returns undefined if the workspace has no such SBOM */
export async function selectProjectOfSbom(
  { id, workspace }: { id: string; workspace: WorkspaceId },
  sql: Queries,
): Promise<string | undefined> {
  const [row] = await sql<{ project: string }[]>`
    SELECT project_id AS project FROM sboms WHERE id = ${id} AND workspace_id = ${workspace} AND NOT removing`;
  return row?.project;
}

const liveStatuses = ["open", "in_progress"] as const satisfies FindingStatus[];

/** Which findings a word shows, as a condition on findings, occurrences and buckets. */
export function matching(shown: FindingFilter["shown"], sql: Queries): Fragment {
  if (shown === "all") return sql`true`;
  if (shown === "live") return sql`status IN ('open', 'in_progress') AND NOT false_positive`;
  return shown === "false_positive" ? sql`false_positive` : sql`status = ${shown}`;
}

/** One condition per index that has a word's findings in list order. */
export function streamConditions(shown: FindingFilter["shown"], sql: Queries): Fragment[] {
  if (shown === "all") return findingStatuses.map((status) => sql`status = ${status}`);
  if (shown === "live") return liveStatuses.map((status) => sql`status = ${status} AND NOT false_positive`);
  return [matching(shown, sql)];
}

export function united([first, ...others]: readonly Fragment[], sql: Queries): Fragment {
  return others.reduce((all, other) => sql`${all} UNION ALL ${other}`, first ?? sql``);
}

type PageRow = ({ total: bigint } & ListedFinding) | { total: bigint; id: null };

/** The rows of `page` with all shown columns. */
function shownRows(total: Fragment, sql: Queries): Fragment {
  return sql`
    SELECT ${total}::bigint AS total, row.*
    FROM (SELECT) AS one
    LEFT JOIN (
      SELECT finding.id, vulnerability.name AS vulnerability, page.rank, vulnerability.score = 0 AS "scoredZero",
        vulnerability.severity_basis AS "severityBasis", finding.status,
        finding.false_positive AS "falsePositive", ${nameShown(sql`finding.component`, sql)} AS component, finding.version, package.ecosystem, finding.purl,
        finding.fix_version AS "fixVersion", finding.project_id AS project, project.name AS "projectName",
        ARRAY(
          SELECT sbom_id FROM finding_sboms WHERE finding_id = finding.id ORDER BY sbom_id DESC LIMIT ${findingSbomsShownMax}
        ) AS sboms,
        finding.first_seen AS "firstSeen", finding.last_seen AS "lastSeen", finding.evidence ->> 'source' AS source,
        finding.evidence ->> 'range' AS range, finding.evidence ->> 'comparator' AS comparator, finding.evidence ->> 'listed' AS listed
      FROM page
      JOIN findings AS finding ON finding.id = page.id
      JOIN vulnerabilities AS vulnerability ON vulnerability.id = finding.vulnerability_id
      JOIN packages AS package ON package.id = finding.package_id
      JOIN projects AS project ON project.id = finding.project_id
    ) AS row ON true
    ORDER BY row.rank DESC, row.id`;
}

function listed(rows: PageRow[]): Listed<ListedFinding> {
  return { total: Number(rows[0]?.total ?? 0), rows: rows.filter((row) => row.id !== null) };
}

/** The first rows of a rank, as many as the page needs. Each status is one stream in index order. */
function streams({ scope, shown }: { scope: ListScope; shown: FindingFilter["shown"] }, sql: Queries): Fragment {
  const stream = (condition: Fragment): Fragment => sql`
    (SELECT id FROM findings
      WHERE ${sql(`${scope.kind}_id`)} = ${scope.id} AND findings.rank = needed.rank AND findings.id >= needed.beginning AND ${condition}
      ORDER BY id LIMIT needed.skip + needed.take)`;
  return united(streamConditions(shown, sql).map(stream), sql);
}
