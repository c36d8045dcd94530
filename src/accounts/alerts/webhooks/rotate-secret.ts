import type { Actor } from "../../audit/actor.ts";
import { change } from "../../audit/change.ts";
import { alertSecretOverlapMs } from "../../limits.ts";
import { dataKeyOf } from "../../secrets/data-key.ts";
import { authorize, managers } from "../../workspaces/authorize.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import type { WebhookSources } from "./create-webhook.ts";
import { requireWebhook, viewWebhook } from "./list-webhooks.ts";
import type { NewAlertWebhookView } from "./schema.ts";
import { newWebhookSecret, sealWebhookSecret } from "./sealed-secret.ts";
import { lockWebhook, updateSecret } from "./webhook-store.ts";

/**
 * Gives a webhook a new secret. For a day what it gets is signed with the former one as well, so that the receiver can change over.
 * @returns it with the secret, which is shown this once
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function rotateWebhookSecret(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: WebhookSources,
): Promise<NewAlertWebhookView> {
  authorize(actor, { roles: managers, action: "replace the secret of a webhook" });
  return change(actor, sources, async (tx) => {
    const row = requireWebhook(await lockWebhook(id, tx), { id, workspace });
    const nowMs = sources.clock.now();
    const formerUntil = new Date(nowMs + alertSecretOverlapMs);
    const secret = newWebhookSecret();
    const dataKey = await dataKeyOf(workspace, { sql: tx, keyring: sources.keyring });
    await updateSecret({ id, sealed: sealWebhookSecret(secret, { workspace, webhook: id }, dataKey), formerUntil }, tx);
    const result = { ...viewWebhook({ ...row, formerUntil }, { actor, nowMs }), secret: secret.reveal() };
    return { result, event: { event: "alert.webhook.rotated", workspace, target: id, changes: {} } };
  });
}
