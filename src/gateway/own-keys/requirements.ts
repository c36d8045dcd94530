/** What a workspace requires of providers, for lists of models; admission reads the same with the key of a request. */
import type { Queries } from "../../backing/backing.ts";
import type { OwnKey } from "../../accounts/keys/record.ts";
import type { WorkspaceRow } from "../../accounts/workspaces/store.ts";
import { ownKeysPerWorkspaceMax } from "../limits.ts";
import type { WorkspaceRequirements } from "../models/models.ts";
import { selectOwnKeys } from "./store.ts";

export async function requirementsOf(
  {
    id,
    zeroDataRetention,
    earlyAccess,
    ownKeyFallback,
  }: Pick<WorkspaceRow, "id" | "zeroDataRetention" | "earlyAccess" | "ownKeyFallback">,
  sql: Queries,
): Promise<WorkspaceRequirements> {
  const ownKeys = earlyAccess.includes("own_keys") ? await usedKeys(id, sql) : null;
  return { zeroDataRetention, earlyAccess, ownKeyFallback, ownKeys };
}

async function usedKeys(workspace: WorkspaceRow["id"], sql: Queries): Promise<OwnKey[]> {
  const rows = await selectOwnKeys({ workspace, limit: ownKeysPerWorkspaceMax }, sql);
  return rows.flatMap(({ state, ...row }) => (state === "disabled" ? [] : [{ ...row, state }]));
}
