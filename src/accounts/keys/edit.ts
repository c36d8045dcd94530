import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { changedFields } from "../audit/changes.ts";
import type { KeyId } from "../../kernel/ids.ts";
import { authorize, managers, writers } from "../workspaces/authorize.ts";
import { DomainError } from "../errors.ts";
import { formFields, parseForm } from "./form.ts";
import type { KeyEdit, KeyView } from "./schema.ts";
import { requireKey } from "./show.ts";
import { lockKey, selectKey, updateLimits, type KeyRow } from "./store.ts";
import { viewKey } from "./view.ts";

/**
 * Changes name, spend limits or requests per minute. Records `auth.api.key.updated` with the changed fields, or nothing if no
 * field changed.
 * @throws DomainError conflict for a revoked key; invalid_field; forbidden
 */
export async function editKey(
  { actor, id, edit }: { actor: Actor; id: KeyId; edit: KeyEdit },
  sources: Sources,
): Promise<KeyView> {
  return change(actor, sources, async (tx) => {
    const now = sources.clock.now();
    const row = requireKey(id, await lockKey({ id, now }, tx));
    requireManaged(actor, row);
    if (row.revokedAt) throw new DomainError("conflict", "Cannot edit a key that is revoked", { field: "id" });
    const limits = parseForm(edit, row);
    const changes = changedFields({ before: formFields(row), after: formFields(limits) });
    if (Object.keys(changes).length === 0) return { result: viewKey(row), event: null };
    await updateLimits(id, limits, tx);
    return {
      result: viewKey(requireKey(id, await selectKey({ id, now }, tx))),
      event: { event: "auth.api.key.updated", workspace: row.workspace, target: id, changes },
    };
  });
}

/**
 * Only its owner and the managers of the workspace may change a key.
 * @throws DomainError forbidden
 */
export function requireManaged(actor: Actor, row: KeyRow): void {
  const own = actor.kind === "member" && actor.email === row.owner;
  authorize(actor, { roles: own ? writers : managers, action: own ? "change a key" : "change another person's key" });
}
