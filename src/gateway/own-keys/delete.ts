import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { OwnKeyDeleted } from "./schema.ts";
import { requireOwnKey } from "./show.ts";
import { deleteOwnKeyRow, lockOwnKey } from "./store.ts";

/**
 * Deletes the key, irrevocably: from now on the provider is called with the service's key, on credit.
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteOwnKey(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<OwnKeyDeleted> {
  authorize(actor, { roles: managers, action: "delete a provider key" });
  return change(actor, sources, async (tx) => {
    requireOwnKey({ id, workspace, row: await lockOwnKey(id, tx) });
    await deleteOwnKeyRow(id, tx);
    const event = { event: "provider.key.deleted", workspace, target: id, changes: {} };
    return { result: { id, deleted: true as const }, event };
  });
}
