import type { Actor } from "../audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ownerSeenBy } from "../workspaces/authorize.ts";
import type { KeyView } from "./schema.ts";
import { selectKeys } from "./store.ts";
import { viewKey } from "./view.ts";

/** Lists keys with their spend of this month: members see their own, overseers all. Revoked keys have a separate list. */
export async function listKeys(
  { actor, workspace, revoked }: { actor: Actor; workspace: WorkspaceId | null; revoked: boolean },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<KeyView[]> {
  const rows = await selectKeys({ workspace, owner: ownerSeenBy(actor), revoked, month: monthOf(clock.now()) }, sql);
  return rows.map(viewKey);
}
