import type { Sources } from "../audit/change.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { findWorkspace } from "../workspaces/find.ts";
import { alertKinds, type EventKind } from "./kinds.ts";
import { recordAlerts } from "./record-alerts.ts";
import { selectRules } from "./rule-store.ts";
import type { AlertData } from "./words.ts";

export interface RaisedEvent {
  workspace: WorkspaceId;
  kind: EventKind;
  /** The id of what it happened to. */
  subject: string;
  /** Distinguishes this event from others of the subject, such as the number of a try: the same once more is told no second time. */
  occurrence: string;
  /** A sentence without a period, for lists and webhooks. */
  text: string;
  data: AlertData;
  /** What admins get. The subject has no text of a user. */
  mail: { subject: string; body: string };
}

/** Whether an event of a chosen kind would be told. */
export async function hasRule({ workspace, kind }: Pick<RaisedEvent, "workspace" | "kind">, sql: Queries): Promise<boolean> {
  return (await selectRules(workspace, sql)).some((rule) => rule.kind === kind);
}

/**
 * Tells of an event, in the transaction that stores it: by mail to the admins, and to the webhooks if the workspace has a rule for the
 * kind. Of a chosen kind it tells as the rule says, and nothing without one. The caller broadcasts `mail-waits` and `alert-waits` afterwards; without that it is sent a few seconds later.
 */
export async function raiseAlert(
  event: RaisedEvent,
  { sql, clock }: { sql: Transaction; clock: Sources["clock"] },
): Promise<void> {
  const { workspace: id, kind, subject, occurrence, text, data, mail } = event;
  const { name } = await findWorkspace(id, { sql, clock });
  const rule = (await selectRules(id, sql)).find((one) => one.kind === kind);
  const isChosen = alertKinds[kind].tells === "chosen";
  if (isChosen && !rule) return;
  const words = { title: mail.subject, text, data, ownMail: mail };
  const alert = {
    ...words,
    kind,
    subject,
    period: occurrence,
    percent: 0,
    owner: null,
    mail: isChosen ? rule?.mail === true : true,
  };
  // Without the rule's id: the event is the same event under another rule.
  const alerts = [{ ...alert, rule: "", webhooks: rule?.webhooks ?? false }];
  await recordAlerts({ workspace: { id, name }, alerts, at: new Date(clock.now()) }, sql);
}
