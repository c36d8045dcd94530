import type { Actor } from "../audit/actor.ts";
import type { Sources } from "../audit/change.ts";
import { alertTestsPerHourMax } from "../limits.ts";
import { countAct } from "../quotas/hourly-acts.ts";
import { authorize, managers } from "../workspaces/authorize.ts";
import type { Database } from "../../backing/backing.ts";
import { newAlertsId, type WorkspaceId } from "../../kernel/ids.ts";
import { insertAlerts } from "./alert-store.ts";
import { testKind } from "./kinds.ts";
import { findAlert, viewAlert } from "./list-alerts.ts";
import { rowOf } from "./record-alerts.ts";
import type { AlertView } from "./schema.ts";
import { deliver, type DeliverParts } from "./webhooks/deliver.ts";
import { beginDelivery, insertDeliveries, recordOutcome } from "./webhooks/delivery-store.ts";
import { requireWebhook } from "./webhooks/list-webhooks.ts";
import { lockWebhook } from "./webhooks/webhook-store.ts";

interface Tested {
  actor: Actor;
  workspace: { id: WorkspaceId; name: string };
  id: string;
}

/**
 * Sends a test to a webhook at once, and does not repeat it.
 * @returns the alert with what became of it
 * @throws DomainError not_found also for another workspace's; forbidden except for admins, super admins and the operator
 * @throws LimitReachedError with too many in an hour
 */
export async function testWebhook(
  { actor, workspace, id }: Tested,
  parts: DeliverParts & { sql: Database; clock: Sources["clock"] },
): Promise<AlertView> {
  authorize(actor, { roles: managers, action: "test a webhook" });
  const { sql, clock } = parts;
  const at = new Date(clock.now());
  const alert = newAlertsId("alert", at.getTime());
  const due = await sql.begin(async (tx) => {
    requireWebhook(await lockWebhook(id, tx), { id, workspace: workspace.id });
    const test = { kind: testKind, rule: "", subject: id, period: alert, percent: 0, data: {} };
    await insertAlerts([rowOf({ ...test, text: "This is a test" }, { id: alert, workspace, at, mails: 0 })], tx);
    await insertDeliveries({ workspace: workspace.id, alerts: [alert], webhook: id, at }, tx);
    const begun = await beginDelivery({ alert, webhook: id, now: at }, tx);
    await countAct({ workspace: workspace.id, act: "tests of webhooks", max: alertTestsPerHourMax }, { sql: tx, clock });
    return begun;
  });
  if (due) {
    const { state, ...outcome } = await deliver(due, parts);
    const ended = state === "delivered" ? state : "given_up";
    await recordOutcome({ alert, webhook: id, attempts: due.attempts, ...outcome, state: ended }, sql);
  }
  return viewAlert(await findAlert(alert, sql));
}
