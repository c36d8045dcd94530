import type { Actor } from "../../accounts/audit/actor.ts";
import { findKey, requireSeen } from "../../accounts/keys/show.ts";
import { selectCallerIds } from "../../accounts/keys/store.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { readUsage } from "./read.ts";
import type { UsageView } from "./schema.ts";
import type { UsageFields } from "./span.ts";

interface AskedUsage {
  actor: Actor;
  workspace: WorkspaceId;
  /** A key of the workspace; null: any. */
  key: KeyId | null;
  /** The email of a member, for all keys of theirs and the Workbench; null: any member. */
  member: string | null;
  /** null: any. */
  model: string | null;
  fields: UsageFields;
  rowsMax: number;
  /** How many of the dearest names are listed by period; null: all. */
  seriesMax: number | null;
}

/**
 * The usage of a workspace: members see their own, overseers all.
 * @throws DomainError not_found for a key that the actor may not see, and what `readUsage` throws
 */
export async function showUsage(
  { actor, key, member, ...asked }: AskedUsage,
  sources: { sql: Database; clock: Clock },
): Promise<UsageView> {
  return readUsage({ ...asked, keys: await keysOf({ actor, workspace: asked.workspace, key, member }, sources) }, sources);
}

/** @returns null: all keys of the workspace */
async function keysOf(
  { actor, workspace, key, member }: Pick<AskedUsage, "actor" | "workspace" | "key" | "member">,
  sources: { sql: Database; clock: Clock },
): Promise<KeyId[] | null> {
  const seen = ownerSeenBy(actor);
  const owner = seen ?? member;
  if (key !== null) {
    const row = requireSeen({ actor, workspace, row: await findKey(key, sources) });
    return member === null || row.owner === member ? [row.id] : [];
  }
  if (owner === null) return null;
  return member !== null && member !== owner ? [] : selectCallerIds({ workspace, owner }, sources.sql);
}
