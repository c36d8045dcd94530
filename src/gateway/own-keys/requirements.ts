/**
 * What a workspace requires of providers, for lists of models; admission reads the same with the key of a request. Also what zero data
 * retention costs a workspace: the models that only providers without it serve.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { OwnKey } from "../../accounts/keys/record.ts";
import type { WorkspaceRow } from "../../accounts/workspaces/store.ts";
import type { Queries } from "../../backing/backing.ts";
import { text } from "../../http/json-schema.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ownKeysPerWorkspaceMax, ownKeysListedMax } from "../limits.ts";
import type { WorkspaceRequirements, Models } from "../models/models.ts";
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

// What zero data retention rules out

export const StoppedModel = Type.Object({
  id: text("The value of a request's `model`"),
  name: text("Its display name"),
  provider: text("The provider that serves it, and states no zero data retention"),
});
export type StoppedModel = Static<typeof StoppedModel>;

interface Settings {
  id: WorkspaceId;
  earlyAccess: readonly string[];
  ownKeyFallback: boolean;
}

/**
 * The models that the workspace can call only while zero data retention is off, whatever its setting is now, in the order of the catalog.
 */
export async function listStoppedModels(
  { id, earlyAccess, ownKeyFallback }: Settings,
  { sql, models }: { sql: Queries; models: Pick<Models, "list" | "availability"> },
): Promise<StoppedModel[]> {
  const rows = earlyAccess.includes("own_keys") ? await selectOwnKeys({ workspace: id, limit: ownKeysListedMax }, sql) : [];
  const ownKeys = rows.flatMap((row) => (row.state === "disabled" ? [] : [{ ...row, state: row.state }]));
  return models.list().flatMap((model) => {
    const demands = { earlyAccess, ownKeys, ownKeyFallback };
    const { routes } = models.availability(model, { ...demands, zeroDataRetention: false });
    const [route] = routes;
    if (!route || models.availability(model, { ...demands, zeroDataRetention: true }).runnable) return [];
    return [{ id: model.id, name: model.name, provider: route.provider.name }];
  });
}
