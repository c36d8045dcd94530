import type { Actor } from "../../accounts/audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { selectKeyIds } from "../../accounts/keys/store.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import type { GenerationView } from "./schema.ts";
import { selectLog, selectLogOfKeys, selectWholeLog, type GenerationRow, type LogPage } from "./store.ts";
import { viewGeneration } from "./view.ts";

/**
 * The request log, newest first: members see their own requests, overseers all requests.
 * @param key a key that the actor may see; null: any key
 */
export async function listGenerations(
  { actor, workspace, key, page }: { actor: Actor; workspace: WorkspaceId | null; key: KeyId | null; page: LogPage },
  sql: Queries,
): Promise<GenerationView[]> {
  const owner = ownerSeenBy(actor);
  const keys = key !== null ? [key] : owner !== null ? await selectKeyIds({ workspace, owner }, sql) : null;
  const select = (): Promise<GenerationRow[]> => {
    if (keys) return selectLogOfKeys({ keys, ...page }, sql);
    return workspace === null ? selectWholeLog(page, sql) : selectLog({ workspace, ...page }, sql);
  };
  return (await select()).map(viewGeneration);
}
