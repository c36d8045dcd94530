import type { Actor } from "../audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import { monthOf, type Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ownerSeenBy } from "../workspaces/authorize.ts";
import type { KeyView } from "./schema.ts";
import { selectKeys } from "./store.ts";
import { viewKey } from "./view.ts";

/** Keys with what they spent this month: a member's own, or all to whoever oversees. Revoked ones have a list of their own. */
export async function listKeys(
  { actor, workspace, revoked }: { actor: Actor; workspace: WorkspaceId | null; revoked: boolean },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<KeyView[]> {
  const rows = await selectKeys({ workspace, owner: ownerSeenBy(actor), revoked, month: monthOf(clock.now()) }, sql);
  return rows.map(viewKey);
}
