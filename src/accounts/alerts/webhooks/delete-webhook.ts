import type { Actor } from "../../audit/actor.ts";
import { change, type Sources } from "../../audit/change.ts";
import { authorize, managers } from "../../workspaces/authorize.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { requireWebhook } from "./list-webhooks.ts";
import type { AlertWebhookDeleted } from "./schema.ts";
import { deleteWebhookRow, lockWebhook } from "./webhook-store.ts";

/**
 * Deletes a webhook with its secret and its deliveries, irrevocably. One that is under way may still arrive.
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteWebhook(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<AlertWebhookDeleted> {
  authorize(actor, { roles: managers, action: "delete a webhook" });
  return change(actor, sources, async (tx) => {
    const { url } = requireWebhook(await lockWebhook(id, tx), { id, workspace });
    await deleteWebhookRow(id, tx);
    const changes = { host: { from: new URL(url).host, to: null } };
    return { result: { id, deleted: true }, event: { event: "alert.webhook.deleted", workspace, target: id, changes } };
  });
}
