import type { Actor } from "../audit/actor.ts";
import { change, type Sources } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { authorize, managers } from "../workspaces/authorize.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { findAlert, noAlert, viewAlert } from "./list-alerts.ts";
import type { AlertView } from "./schema.ts";
import { insertDeliveries } from "./webhooks/delivery-store.ts";
import { requireWebhook } from "./webhooks/list-webhooks.ts";
import { selectWebhook } from "./webhooks/webhook-store.ts";

/**
 * Queues an alert again for the workspace's webhooks, with the same id, so that a receiver that had it knows it.
 * @param webhook only this one; null: all, also those that are newer than the alert
 * @throws DomainError not_found also for another workspace's; conflict without a webhook; forbidden except for admins, super admins and
 *   the operator
 */
export async function replayAlert(
  { actor, workspace, id, webhook }: { actor: Actor; workspace: WorkspaceId; id: string; webhook: string | null },
  sources: Sources,
): Promise<AlertView> {
  authorize(actor, { roles: managers, action: "replay an alert" });
  return change(actor, sources, async (tx) => {
    if ((await findAlert(id, tx)).workspace !== workspace) throw noAlert(id);
    if (webhook !== null) requireWebhook(await selectWebhook(webhook, tx), { id: webhook, workspace });
    const at = new Date(sources.clock.now());
    const waiting = await insertDeliveries({ workspace, alerts: [id], webhook, at }, tx);
    if (waiting === 0) {
      throw new DomainError("conflict", "Cannot replay the alert: the workspace has no webhook, or too many deliveries wait", {
        field: "id",
      });
    }
    const event = { event: "alert.replayed", workspace, target: id, changes: {} };
    return { result: viewAlert(await findAlert(id, tx)), event };
  });
}
