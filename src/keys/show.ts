import type { Actor } from "../audit/actor.ts";
import type { Queries } from "../backing/backing.ts";
import { monthOf, type Clock } from "../kernel/clock.ts";
import type { KeyId } from "../kernel/ids.ts";
import { ownerSeenBy } from "../workspaces/allow.ts";
import { ControlError } from "../workspaces/control-error.ts";
import { selectKey, type KeyRow } from "./store.ts";

/** @throws ControlError not_found */
export async function findKey(id: KeyId, { sql, clock }: { sql: Queries; clock: Clock }): Promise<KeyRow> {
  return requireKey(id, await selectKey({ id, month: monthOf(clock.now()) }, sql));
}

export function requireKey(id: KeyId, row: KeyRow | undefined): KeyRow {
  if (!row) throw new ControlError("not_found", { field: "id", message: `There is no key with the id "${id}"` });
  return row;
}

/**
 * A key that the actor may see.
 * @throws ControlError not_found also where the key is somebody else's: whose keys exist is not told
 */
export function requireSeen(actor: Actor, row: KeyRow): KeyRow {
  const owner = ownerSeenBy(actor);
  return requireKey(row.id, owner === null || owner === row.owner ? row : undefined);
}
