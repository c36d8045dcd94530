import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

/** Projects with more SBOMs than are kept. */
export async function selectProjectsOverLimit({ kept, limit }: { kept: number; limit: number }, sql: Queries): Promise<string[]> {
  const rows = await sql<{ project: string }[]>`
    SELECT project_id AS project FROM sboms WHERE NOT removing GROUP BY project_id HAVING count(*) > ${kept} LIMIT ${limit}`;
  return rows.map(({ project }) => project);
}

export interface MarkedSbom {
  id: string;
  workspace: WorkspaceId;
}

/** Keeps the current SBOM and the newest of the others. Locks the project, so that no marked SBOM becomes the current one. */
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

/** Deletes at most `limit` rows of an SBOM that is being removed; after its last row, the SBOM itself. */
export async function deletePartOfSbom({ id, limit }: { id: string; limit: number }, sql: Queries): Promise<void> {
  for (const table of parts) {
    const { count } = await sql`
      DELETE FROM ${sql(table)} WHERE sbom_id = ${id} AND ctid = ANY (ARRAY (
        SELECT ctid FROM ${sql(table)} WHERE sbom_id = ${id} LIMIT ${limit}))`;
    if (count > 0) return;
  }
  await sql`DELETE FROM sboms WHERE id = ${id} AND removing`;
}
