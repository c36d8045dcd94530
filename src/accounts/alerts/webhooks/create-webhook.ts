import type { Actor } from "../../audit/actor.ts";
import { change, type Sources } from "../../audit/change.ts";
import { changedFields } from "../../audit/changes.ts";
import { DomainError } from "../../errors.ts";
import { alertWebhooksMax } from "../../limits.ts";
import { dataKeyOf } from "../../secrets/data-key.ts";
import type { Keyring } from "../../secrets/keyring.ts";
import { authorize, managers } from "../../workspaces/authorize.ts";
import { BaseUrlError, parseBaseUrl } from "../../../http/outbound/base-url.ts";
import { newAlertsId, type WorkspaceId } from "../../../kernel/ids.ts";
import { viewWebhook } from "./list-webhooks.ts";
import type { NewAlertWebhookView } from "./schema.ts";
import { newWebhookSecret, sealWebhookSecret } from "./sealed-secret.ts";
import { insertWebhook, lockWebhooksOf, selectWebhook, selectWebhooks } from "./webhook-store.ts";

export type WebhookSources = Sources & { keyring: Keyring };

/**
 * Adds a webhook. Its address passes the check of a connector's, and again at each delivery.
 * @returns it with its secret, which is shown this once
 * @throws DomainError invalid_field for an address that is not https or leads into a private network; conflict beside the same one or
 *   with too many; forbidden except for admins, super admins and the operator
 */
export async function createWebhook(
  { actor, workspace, url: text }: { actor: Actor; workspace: WorkspaceId; url: string },
  sources: WebhookSources,
): Promise<NewAlertWebhookView> {
  authorize(actor, { roles: managers, action: "add a webhook" });
  const { href: url, host } = parseUrl(text);
  return change(actor, sources, async (tx) => {
    await lockWebhooksOf(workspace, tx);
    const present = await selectWebhooks(workspace, tx);
    if (present.some((row) => row.url === url)) {
      throw new DomainError("conflict", "Cannot add this webhook: the workspace has it already", { field: "url" });
    }
    if (present.length >= alertWebhooksMax) {
      throw new DomainError("conflict", `Cannot add this webhook: the workspace has ${alertWebhooksMax}; delete one`);
    }
    const at = sources.clock.now();
    const id = newAlertsId("hook", at);
    const secret = newWebhookSecret();
    const dataKey = await dataKeyOf(workspace, { sql: tx, keyring: sources.keyring });
    const sealed = sealWebhookSecret(secret, { workspace, webhook: id }, dataKey);
    await insertWebhook({ id, workspace, url, sealed, at: new Date(at) }, tx);
    const row = await selectWebhook(id, tx);
    if (!row) throw new Error(`The webhook "${id}" was created and cannot be found`);
    const result = { ...viewWebhook(row, { actor, nowMs: at }), secret: secret.reveal() };
    const changes = changedFields({ before: {}, after: { host } });
    return { result, event: { event: "alert.webhook.created", workspace, target: id, changes } };
  });
}

function parseUrl(text: string): URL {
  try {
    return parseBaseUrl(text);
  } catch (error) {
    if (!(error instanceof BaseUrlError)) throw error;
    throw new DomainError("invalid_field", `Cannot take this address: ${error.message}`, { field: "url" });
  }
}
