/** The SQL that products and projects share: whether one exists, and how many a workspace has. */
import type { Queries } from "../backing/backing.ts";
import type { WorkspaceId } from "../kernel/ids.ts";

interface Table {
  table: "products" | "projects";
  workspace: WorkspaceId;
}

export async function resourceExists({ table, workspace, id }: Table & { id: string }, sql: Queries): Promise<boolean> {
  return (await sql`SELECT FROM ${sql(table)} WHERE workspace_id = ${workspace} AND id = ${id}`).length > 0;
}

export async function countResources({ table, workspace }: Table, sql: Queries): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM ${sql(table)} WHERE workspace_id = ${workspace}`;
  return row?.count ?? 0;
}
