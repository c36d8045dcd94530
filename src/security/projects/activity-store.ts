/**
 * The SQL of a project's activity: its creation, its SBOMs, and the events of its findings that are not a scan's, of which one index has the
 * newest. Events of one moment are one entry. Also the changes from which its trend is computed.
 */
import type { Changes } from "../../accounts/audit/store.ts";
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Fragment } from "../findings/lists/list-store.ts";
import type { FindingStatus } from "../findings/schema.ts";
import { activityEventsMax } from "../limits.ts";

export const activityKinds = ["project_created", "sbom_uploaded", "decided", "acceptance_ended"] as const;

export interface ActivityQuery {
  workspace: WorkspaceId;
  /** Must exist. */
  project: string;
  /** Only what happened before; null: the newest. */
  before: Date | null;
  limit: number;
}

interface EntryRow {
  at: Date;
  actor: string | null;
  what: (typeof activityKinds)[number];
  findings: number;
  finding: string | null;
  issue: string | null;
  component: string | null;
  changes: Changes | null;
  sbom: string | null;
  filename: string | null;
}

export async function selectEntries({ workspace, project, before, limit }: ActivityQuery, sql: Queries): Promise<EntryRow[]> {
  const earlier = (column: Fragment) => (before === null ? sql`true` : sql`${column} < ${before}`);
  const most = sql.unsafe(String(activityEventsMax));
  return sql<EntryRow[]>`
    WITH events AS MATERIALIZED (
      SELECT id, at, actor, cause, finding_id FROM finding_events
      WHERE project_id = ${project} AND cause IN ('decided', 'acceptance_ended') AND ${earlier(sql`at`)}
      ORDER BY at DESC, id DESC LIMIT ${most}
    ), moments AS MATERIALIZED (
      SELECT at, actor, cause, count(DISTINCT finding_id)::integer AS findings, min(id) AS first
      FROM events
      WHERE (SELECT count(*) FROM events) < ${most} OR at > (SELECT min(at) FROM events) OR (SELECT min(at) = max(at) FROM events)
      GROUP BY at, actor, cause ORDER BY at DESC LIMIT ${limit}
    )
    SELECT * FROM (
      SELECT moments.at, moments.actor, moments.cause AS what, moments.findings, event.finding_id AS finding, vulnerabilities.name AS issue,
        left(findings.component, 200) || CASE WHEN findings.version = '' THEN '' ELSE '@' || left(findings.version, 100) END AS component,
        event.changes, NULL AS sbom, NULL AS filename
      FROM moments JOIN finding_events AS event ON event.id = moments.first
      JOIN findings ON findings.id = event.finding_id JOIN vulnerabilities ON vulnerabilities.id = findings.vulnerability_id
      UNION ALL
      SELECT created_at, created_by, 'sbom_uploaded', 0, NULL, NULL, NULL, NULL, id, filename FROM sboms
      WHERE project_id = ${project} AND workspace_id = ${workspace} AND NOT removing AND ${earlier(sql`created_at`)}
      UNION ALL
      SELECT created_at, NULL, 'project_created', 0, NULL, NULL, NULL, NULL, NULL, NULL FROM projects
      WHERE id = ${project} AND workspace_id = ${workspace} AND ${earlier(sql`created_at`)}
    ) AS entry
    ORDER BY at DESC, what DESC LIMIT ${limit}`;
}

// The trend

export interface LiveFindings {
  rank: number;
  findings: number;
}

/** By rank. */
export function selectLive(project: string, sql: Queries): Promise<LiveFindings[]> {
  return sql<LiveFindings[]>`
    SELECT rank, count(*)::integer AS findings FROM findings WHERE project_id = ${project} AND live GROUP BY rank`;
}

export interface StateChange {
  finding: string;
  at: Date;
  rank: number;
  /** Today's. */
  status: FindingStatus;
  falsePositive: boolean;
  changes: Changes;
}

/** The newest changes that may make a finding live or end it, the newest first. */
export function selectChanges(
  { project, since, limit }: { project: string; since: Date; limit: number },
  sql: Queries,
): Promise<StateChange[]> {
  return sql<StateChange[]>`
    SELECT finding_id AS finding, at, rank, status, false_positive AS "falsePositive", changes
    FROM findings JOIN finding_events ON finding_id = findings.id
    WHERE findings.project_id = ${project} AND at >= ${since} AND (changes -> 'status' IS NOT NULL OR changes -> 'false_positive' IS NOT NULL)
    ORDER BY finding_events.id DESC LIMIT ${limit}`;
}
