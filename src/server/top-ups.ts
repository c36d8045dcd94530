/** The gateway's part of card top-up: pages of Stripe for people, and the webhook. Workers charge saved cards. */
import type { Backing } from "../backing/backing.ts";
import type { Config } from "../config.ts";
import type { Gateway } from "../gateway/api/gateway.ts";
import type { RefundParts } from "../gateway/top-ups/change-top-up.ts";
import type { WebhookParts } from "../gateway/top-ups/webhook.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { mailManagers } from "../accounts/mails/mail-managers.ts";

/** @returns null: the operator has set no key of Stripe */
export async function openTopUps({
  config: { stripe, publicUrl, trustedProxies: proxies },
  backing: { sql, bus },
  admission,
  clock,
  log,
}: {
  config: Config;
  backing: Backing;
  admission: Pick<Gateway["admission"], "position" | "held" | "refresh">;
  clock: Clock;
  log: Logger;
}): Promise<(WebhookParts & RefundParts) | null> {
  if (stripe === null) return null;
  const { stripeClient } = await import("../gateway/top-ups/stripe-client.ts");
  return {
    sql,
    clock,
    log,
    publicUrl,
    stripe: stripeClient(stripe),
    secrets: stripe.webhookSecrets,
    proxies,
    reserved: async (workspace) => (await admission.position(workspace, null))?.reserved ?? null,
    held: (workspace) => admission.held(workspace),
    refresh: (workspace) => admission.refresh(workspace),
    mailManagers: (mail, tx) => mailManagers(mail, tx, { bus, clock }),
  };
}
