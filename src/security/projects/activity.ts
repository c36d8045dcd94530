/**
 * What happened in a project, newest first: its creation, uploads of SBOMs, decisions about its findings, and accepted risks that ended.
 * What scans found is not among it: a scan changes thousands of findings, and each finding has its own history.
 *
 * A decision about several findings at one moment is one entry. A page reads a bounded number of events; one that is cut off in the middle
 * of a moment leaves that moment to the next page, unless it is the only one, which is then counted in part.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Changes } from "../../accounts/audit/store.ts";
import type { Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { Fragment } from "../findings/lists/list-store.ts";
import { ChangeView, viewChanges } from "../findings/schema.ts";
import { activityEventsMax } from "../limits.ts";

const kinds = ["project_created", "sbom_uploaded", "decided", "acceptance_ended"] as const;

export const ActivityView = Type.Object({
  at: text("When, ISO 8601 in UTC"),
  actor: textOrNull("E-mail address of the person, operator, or scanner; null: not known"),
  what: Type.Unsafe<(typeof kinds)[number]>(
    Type.Union(
      kinds.map((kind) => Type.Literal(kind)),
      { description: "What happened" },
    ),
  ),
  findings: Type.Integer({ description: "Findings that it changed; 0 for other kinds" }),
  finding_id: textOrNull("One of these findings"),
  cve_id: textOrNull("Its vulnerability"),
  component: textOrNull("Its component, as name@version"),
  changes: Type.Array(ChangeView, { description: "What changed of it" }),
  sbom_id: textOrNull("The uploaded SBOM"),
  filename: textOrNull("The name of its file"),
});
export type ActivityView = Static<typeof ActivityView>;

interface Listed {
  workspace: WorkspaceId;
  /** Must exist. */
  project: string;
  /** Only what happened before; null: the newest. */
  before: Date | null;
  limit: number;
}

export async function listActivity(listed: Listed, sql: Queries): Promise<ActivityView[]> {
  const rows = await selectEntries(listed, sql);
  return rows.map(({ at, actor, what, findings, finding, issue, component, changes, sbom, filename }) => ({
    at: isoTime(at.getTime()),
    actor,
    what,
    findings,
    finding_id: finding,
    cve_id: issue,
    component,
    changes: changes === null ? [] : viewChanges(changes),
    sbom_id: sbom,
    filename,
  }));
}

interface EntryRow {
  at: Date;
  actor: string | null;
  what: (typeof kinds)[number];
  findings: number;
  finding: string | null;
  issue: string | null;
  component: string | null;
  changes: Changes | null;
  sbom: string | null;
  filename: string | null;
}

async function selectEntries({ workspace, project, before, limit }: Listed, sql: Queries): Promise<EntryRow[]> {
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
