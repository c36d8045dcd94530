/** Records new alerts, and queues their mails and deliveries in the same transaction: each is told once, whoever else finds it too. */
import type { Transaction } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { newAlertsId, type WorkspaceId } from "../../kernel/ids.ts";
import { alertMailLinesMax, alertMailRecipientsMax } from "../limits.ts";
import { insertMail } from "../mails/store.ts";
import { insertAlerts, selectActive, selectAdmins, type AlertRow } from "./alert-store.ts";
import { insertDeliveries } from "./webhooks/delivery-store.ts";
import type { AlertWords } from "./words.ts";

export interface NewAlert extends AlertWords, Pick<AlertRow, "kind" | "rule" | "subject" | "period" | "percent"> {
  /** Who is told beside the admins; null: nobody. */
  owner: string | null;
  mail: boolean;
  webhooks: boolean;
  /** A mail of its own; absent: the mail lists the alert's text. */
  ownMail?: { subject: string; body: string };
}

interface AlertedWorkspace {
  id: WorkspaceId;
  name: string;
}

/** Each recipient gets one mail with all that is new for them. @returns how many of the alerts are new */
export async function recordAlerts(
  { workspace, alerts, at }: { workspace: AlertedWorkspace; alerts: readonly NewAlert[]; at: Date },
  tx: Transaction,
): Promise<number> {
  if (alerts.length === 0) return 0;
  const recipients = await recipientsOf(workspace.id, alerts, tx);
  const drafts = alerts.map((alert) => ({ alert, to: recipients(alert), id: newAlertsId("alert", at.getTime()) }));
  const rows = drafts.map(({ alert, to, id }) => rowOf(alert, { id, workspace, at, mails: to.length }));
  const inserted = new Set(await insertAlerts(rows, tx));
  const news = drafts.filter(({ id }) => inserted.has(id));
  const mails = new Map<string, NewAlert[]>();
  for (const { alert, to } of news) for (const email of to) mails.set(email, [...(mails.get(email) ?? []), alert]);
  for (const [recipient, told] of mails) {
    for (const mail of mailsOf(told, workspace)) await insertMail({ ticket: null, recipient, ...mail, at }, tx);
  }
  const sent = news.filter(({ alert }) => alert.webhooks).map(({ id }) => id);
  await insertDeliveries({ workspace: workspace.id, alerts: sent, webhook: null, at }, tx);
  return news.length;
}

async function recipientsOf(
  workspace: WorkspaceId,
  alerts: readonly NewAlert[],
  tx: Transaction,
): Promise<(alert: NewAlert) => string[]> {
  const mailed = alerts.filter(({ mail }) => mail);
  if (mailed.length === 0) return () => [];
  const admins = await selectAdmins({ workspace, limit: alertMailRecipientsMax }, tx);
  const owners = mailed.flatMap(({ owner }) => (owner === null ? [] : [owner]));
  const active = new Set(await selectActive({ workspace, emails: [...new Set(owners)] }, tx));
  return ({ mail, owner }) => {
    if (!mail) return [];
    return owner === null || !active.has(owner) ? admins : [...new Set([...admins, owner])];
  };
}

/** Webhooks get these bytes with every attempt, so that each attempt is the same event. */
export function rowOf(
  { kind, rule, subject, period, percent, text, data }: Omit<NewAlert, "owner" | "mail" | "webhooks" | "title">,
  { id, workspace, at, mails }: { id: string; workspace: AlertedWorkspace; at: Date; mails: number },
): AlertRow {
  const of = { id: workspace.id, name: workspace.name };
  const body = JSON.stringify({ id, type: kind, created_at: isoTime(at.getTime()), workspace: of, text, data });
  return { id, workspace: workspace.id, kind, rule, subject, period, percent, text, body, mails };
}

function mailsOf(alerts: readonly NewAlert[], workspace: AlertedWorkspace): { subject: string; body: string }[] {
  const own = alerts.flatMap(({ ownMail }) => (ownMail ? [ownMail] : []));
  const listed = alerts.filter(({ ownMail }) => !ownMail);
  const [first] = listed;
  if (!first) return own;
  const lines = listed.slice(0, alertMailLinesMax).map(({ text }) => `- ${text}`);
  if (listed.length > lines.length) lines.push(`- and ${listed.length - lines.length} more, in the list of alerts`);
  const subject = listed.length === 1 ? first.title : `${listed.length} alerts about limits and credit`;
  const body = `In the workspace "${workspace.name}":

${lines.join("\n")}

Each threshold is told once in its period. The Console's page Alerts shows the rules and all alerts, and so does the command line:

  alert list --workspace ${workspace.id}
`;
  return [...own, { subject, body }];
}
