import type { Actor } from "../audit/actor.ts";
import type { Queries } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { ownerSeenBy } from "../workspaces/authorize.ts";
import { DomainError } from "../errors.ts";
import { selectKey, type KeyRow } from "./store.ts";

/** @throws DomainError not_found */
export async function findKey(id: KeyId, { sql, clock }: { sql: Queries; clock: Clock }): Promise<KeyRow> {
  return requireKey(id, await selectKey({ id, now: clock.now() }, sql));
}

export function requireKey(id: KeyId, row: KeyRow | undefined): KeyRow {
  if (!row) throw noKey(id);
  return row;
}

export function noKey(id: KeyId): DomainError {
  return new DomainError("not_found", `There is no key with the id "${id}"`, { field: "id" });
}

/**
 * @param workspace where the actor acts; null: in any
 * @throws DomainError not_found also for a key that the actor may not see, so that existing keys stay hidden
 */
export function requireSeen({ actor, workspace, row }: { actor: Actor; workspace: WorkspaceId | null; row: KeyRow }): KeyRow {
  const owner = ownerSeenBy(actor);
  const seen = (owner === null || owner === row.owner) && (workspace === null || workspace === row.workspace);
  return requireKey(row.id, seen ? row : undefined);
}
