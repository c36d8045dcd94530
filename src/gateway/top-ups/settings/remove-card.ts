import { changedFields } from "../../../accounts/audit/changes.ts";
import { change } from "../../../accounts/audit/change.ts";
import { byWeir } from "../change-top-up.ts";
import { claimEvent } from "../events-store.ts";
import { cardRemovedMail } from "../mails.ts";
import type { TopUpParts } from "../parts.ts";
import { lockTopUpSettings, selectWorkspacesOfCard, updateTopUpSettings } from "../settings-store.ts";
import { withoutCard } from "./set-settings.ts";

/** Forgets a card that was removed at Stripe: automatic top-up is off from now on. */
export async function removeCard(paymentMethod: string, parts: TopUpParts, event: string): Promise<void> {
  for (const workspace of await selectWorkspacesOfCard(paymentMethod, parts.sql)) {
    await change(byWeir, parts, async (tx) => {
      const settings = await lockTopUpSettings(workspace, tx);
      const isNew = await claimEvent({ id: event, at: new Date(parts.clock.now()) }, tx);
      if (!isNew || settings.paymentMethod !== paymentMethod) return { result: null, event: null };
      await updateTopUpSettings(withoutCard(settings), tx);
      if (settings.enabled) await parts.mailManagers({ workspace, ...cardRemovedMail(parts.publicUrl) }, tx);
      const before = { enabled: settings.enabled, card: settings.cardLastFour };
      const changes = changedFields({ before, after: { enabled: false, card: null } });
      return { result: null, event: { event: "top_up.settings.updated", workspace, target: workspace, changes } };
    });
  }
}
