import type { Actor } from "../../accounts/audit/actor.ts";
import { change, type Sources } from "../../accounts/audit/change.ts";
import { changedFields } from "../../accounts/audit/changes.ts";
import { authorize, managers } from "../../accounts/workspaces/authorize.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { OwnKeyView } from "./schema.ts";
import { requireOwnKey, viewOwnKey } from "./show.ts";
import { lockOwnKey, updateState } from "./store.ts";

/**
 * Keeps the key and no longer uses it: from now on the provider is called with the service's key, on credit. Records nothing if it is
 * disabled already.
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function disableOwnKey(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<OwnKeyView> {
  authorize(actor, { roles: managers, action: "disable a provider key" });
  return change(actor, sources, async (tx) => {
    const row = requireOwnKey({ id, workspace, row: await lockOwnKey(id, tx) });
    const after = { ...row, state: "disabled" as const };
    const result = viewOwnKey(after, actor);
    if (row.state === "disabled") return { result, event: null };
    await updateState(after, tx);
    const changes = changedFields({ before: { state: row.state }, after: { state: after.state } });
    return { result, event: { event: "provider.key.disabled", workspace, target: id, changes } };
  });
}
