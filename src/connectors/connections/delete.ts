import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import type { ConnectionDeleted } from "./schema.ts";
import { requireConnection } from "./show.ts";
import { deleteRow, lockConnection } from "./store.ts";

/**
 * Deletes a connection with its credentials, irrevocably.
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteConnection(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<ConnectionDeleted> {
  authorize(actor, { roles: managers, action: "delete a connection" });
  return change(actor, sources, async (tx) => {
    requireConnection({ id, workspace, row: await lockConnection(id, tx) });
    await deleteRow(id, tx);
    return { result: { id, deleted: true as const }, event: { event: "connection.deleted", workspace, target: id, changes: {} } };
  });
}
