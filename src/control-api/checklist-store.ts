/**
 * The SQL of the checklist of first steps: what of all three products a workspace has, read from their own tables, and who has hidden it.
 */
import type { Queries } from "../backing/backing.ts";
import type { WorkspaceId } from "../kernel/ids.ts";

/** Each is whether there is any. */
export interface Present {
  request: boolean;
  key: boolean;
  limit: boolean;
  colleague: boolean;
  alert: boolean;
  sbom: boolean;
  connection: boolean;
}

/** Stops at the first row of each. */
export async function selectPresent(workspace: WorkspaceId, sql: Queries): Promise<Present> {
  const [row] = await sql<Present[]>`
    SELECT
      EXISTS (SELECT FROM generations WHERE hashtext(workspace_id) = hashtext(${workspace}) AND workspace_id = ${workspace}) AS request,
      EXISTS (SELECT FROM api_keys WHERE workspace_id = ${workspace} AND kind = 'inference' AND revoked_at IS NULL) AS key,
      EXISTS (SELECT FROM api_keys WHERE workspace_id = ${workspace} AND kind = 'inference' AND revoked_at IS NULL
        AND (monthly_spend_limit_nano IS NOT NULL OR daily_spend_limit_nano IS NOT NULL)) AS "limit",
      EXISTS (SELECT FROM members WHERE workspace_id = ${workspace} OFFSET 1) AS colleague,
      EXISTS (SELECT FROM alert_rules WHERE workspace_id = ${workspace}) AS alert,
      EXISTS (SELECT FROM projects WHERE workspace_id = ${workspace} AND sbom_id IS NOT NULL AND provider <> 'sample') AS sbom,
      EXISTS (SELECT FROM connections WHERE workspace_id = ${workspace}) AS connection`;
  if (!row) throw new Error("A select without a table gave no row");
  return row;
}

interface Hidden {
  workspace: WorkspaceId;
  /** Empty: the operator. */
  email: string;
}

export async function isHidden({ workspace, email }: Hidden, sql: Queries): Promise<boolean> {
  return (await sql`SELECT FROM hidden_checklists WHERE workspace_id = ${workspace} AND email = ${email}`).length > 0;
}

export async function updateHidden({ workspace, email, hidden }: Hidden & { hidden: boolean }, sql: Queries): Promise<void> {
  if (hidden)
    await sql`INSERT INTO hidden_checklists (workspace_id, email) VALUES (${workspace}, ${email}) ON CONFLICT DO NOTHING`;
  else await sql`DELETE FROM hidden_checklists WHERE workspace_id = ${workspace} AND email = ${email}`;
}
