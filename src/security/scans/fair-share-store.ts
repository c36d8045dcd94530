/** The scanner time that each workspace was given. It decays, so that about the last half minute counts. */
import { arrayText } from "../../backing/sql-text.ts";
import type { Queries } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { scanShareFadesMs, scanWorkspacesTried } from "../limits.ts";

/** Workspaces with a project that is due, the one with the least scanner time first, then the one that has waited longest. */
export async function selectLeastServed(now: Date, sql: Queries): Promise<WorkspaceId[]> {
  const rows = await sql<{ workspace: WorkspaceId }[]>`
    WITH RECURSIVE waiting (workspace_id) AS (
      (SELECT workspace_id FROM projects WHERE scan_status IN ('pending', 'scanning') ORDER BY workspace_id LIMIT 1)
      UNION ALL
      SELECT (
        SELECT workspace_id FROM projects WHERE scan_status IN ('pending', 'scanning') AND workspace_id > waiting.workspace_id
        ORDER BY workspace_id LIMIT 1)
      FROM waiting WHERE waiting.workspace_id IS NOT NULL
    )
    SELECT waiting.workspace_id AS workspace FROM waiting
    CROSS JOIN LATERAL (
      SELECT scan_due_at FROM projects
      WHERE workspace_id = waiting.workspace_id AND scan_status IN ('pending', 'scanning') AND scan_due_at <= ${now}
      ORDER BY scan_level, scan_due_at, id LIMIT 1) AS first
    LEFT JOIN scan_shares ON scan_shares.workspace_id = waiting.workspace_id
    ORDER BY faded_share(served_ms, at, ${now}, ${scanShareFadesMs}), first.scan_due_at, workspace LIMIT ${scanWorkspacesTried}`;
  return rows.map(({ workspace }) => workspace);
}

/** @param milliseconds a negative number refunds */
export async function chargeShare(
  { workspace, milliseconds, now }: { workspace: WorkspaceId; milliseconds: number; now: Date },
  sql: Queries,
): Promise<void> {
  await sql`
    INSERT INTO scan_shares AS share (workspace_id, served_ms, at) VALUES (${workspace}, ${Math.max(milliseconds, 0)}, ${now})
    ON CONFLICT (workspace_id) DO UPDATE SET at = excluded.at,
      served_ms = greatest(faded_share(share.served_ms, share.at, excluded.at, ${scanShareFadesMs}) + ${milliseconds}, 0)`;
}

/**
 * The queue position of each of these projects: how many projects are being scanned now, and how many would be scanned before it if all
 * slices were equally long. A project that is being scanned has position 0. A project that does not wait is not in the result.
 */
export async function selectQueuePositions(
  { projects, now }: { projects: readonly string[]; now: Date },
  sql: Queries,
): Promise<Map<string, number>> {
  const rows = await sql<{ project: string; before: number }[]>`
    WITH asked AS MATERIALIZED (
      SELECT id, workspace_id, scan_due_at > ${now} AS taken, scan_level, scan_due_at FROM projects
      WHERE scan_status IN ('pending', 'scanning')
    ), turns AS (
      SELECT id, workspace_id, row_number() OVER (PARTITION BY workspace_id ORDER BY scan_level, scan_due_at, id) AS turn
      FROM asked WHERE NOT taken
    ), line AS (
      SELECT id, row_number() OVER (
          ORDER BY turn, faded_share(served_ms, at, ${now}, ${scanShareFadesMs}), turns.workspace_id) - 1
        + (SELECT count(*) FROM asked WHERE taken) AS before
      FROM turns LEFT JOIN scan_shares USING (workspace_id)
      UNION ALL
      SELECT id, 0 FROM asked WHERE taken
    )
    SELECT id AS project, before::integer AS before FROM line WHERE id = ANY (${arrayText(projects, (id) => id)}::text[])`;
  return new Map(rows.map(({ project, before }) => [project, before]));
}
