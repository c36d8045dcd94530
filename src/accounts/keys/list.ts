import type { Actor } from "../audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import { ownerSeenBy } from "../workspaces/authorize.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import type { KeyView } from "./schema.ts";
import { selectKeys, type KeyFilter } from "./store.ts";
import { viewKey } from "./view.ts";

/**
 * Lists keys with their spend of this month: members see their own, overseers all. Revoked keys have a separate list.
 * @param owner only keys of this person; null: of all that the actor sees
 */
export async function listKeys(
  { actor, owner: named, ...filter }: Omit<KeyFilter, "now"> & { actor: Actor },
  { sql, clock }: { sql: Queries; clock: Clock },
): Promise<KeyView[]> {
  const seen = ownerSeenBy(actor);
  const owner = named === null ? seen : canonicalEmail(named);
  if (seen !== null && owner !== seen) return [];
  const rows = await selectKeys({ ...filter, owner, now: clock.now() }, sql);
  return rows.map(viewKey);
}
