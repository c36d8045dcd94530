/**
 * Alerts: recorded once, sent to admins and webhooks, listed, replayed, and tested.
 *
 * An alert, its mails and its deliveries are rows of one transaction; for an event it is the event's own transaction. An alert that two
 * processes find is recorded once. A person gets one mail for all new alerts of a round. A replay keeps the alert's id, so that a receiver
 * recognizes an alert it already has. A test is sent at once and never retried. The mailer and `deliveries.ts` do the sending.
 */
import type { Queries, Transaction, Database } from "../../backing/backing.ts";
import { isoTime } from "../../kernel/clock.ts";
import { timeOfId, type WorkspaceId, newAlertsId } from "../../kernel/ids.ts";
import { type Actor, authorize, overseers, managers } from "../audit/actor.ts";
import { type Sources, change, type AuditEvent } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { alertTestsPerHourMax, alertMailLinesMax, alertMailRecipientsMax } from "../limits.ts";
import { insertMail } from "../mails/store.ts";
import { countAct } from "../quotas/hourly-acts.ts";
import { findWorkspace } from "../workspaces/workspaces.ts";
import { deliver, type DeliverParts } from "./deliveries.ts";
import { alertKinds, type EventKind, testKind } from "./kinds.ts";
import type { AlertDeliveryView, AlertList, AlertView } from "./schema.ts";
import * as store from "./store.ts";
import { insertDeliveries, selectWebhook, beginDelivery, recordOutcome, lockWebhook } from "./webhook-store.ts";
import { requireWebhook } from "./webhooks.ts";
import type { AlertData, AlertWords } from "./words.ts";

interface AlertPage {
  actor: Actor;
  workspace: WorkspaceId;
  /** Only those with a delivery to this webhook; null: all. */
  webhook: string | null;
  before: string | null;
  limit: number;
}

/** Newest first. @throws DomainError forbidden for members */
export async function listAlerts({ actor, limit, ...page }: AlertPage, sql: Queries): Promise<AlertList> {
  authorize(actor, { roles: overseers, action: "see alerts" });
  const rows = await store.selectAlerts({ ...page, limit: limit + 1 }, sql);
  const shown = rows.slice(0, limit);
  return { data: shown.map(viewAlert), next: rows.length > limit ? (shown.at(-1)?.id ?? null) : null };
}

/** Finds an alert in any workspace. @throws DomainError not_found */
export async function findAlert(id: string, sql: Queries): Promise<store.ListedAlert> {
  const alert = await store.selectAlert(id, sql);
  if (alert) return alert;
  throw noAlert(id);
}

export function noAlert(id: string): DomainError {
  return new DomainError("not_found", `There is no alert with the id "${id}"`, { field: "id" });
}

interface RaisedEvent {
  workspace: WorkspaceId;
  kind: EventKind;
  /** The id of what it happened to. */
  subject: string;
  /** Distinguishes this event from others of the same subject, such as the number of an attempt. The same event is never reported twice. */
  occurrence: string;
  /** A sentence without a period. Lists and webhooks show it. */
  text: string;
  data: AlertData;
  /** The mail to admins. Its subject contains no user text. */
  mail: { subject: string; body: string };
  /** Who gets the mail in addition to the admins, if they are active members; absent: no one else. */
  owners?: readonly string[];
}

/** Whether the workspace has a rule for events of this kind. */
export async function hasRule({ workspace, kind }: Pick<RaisedEvent, "workspace" | "kind">, sql: Queries): Promise<boolean> {
  return (await store.selectRules(workspace, sql)).some((rule) => rule.kind === kind);
}

/**
 * Reports an event within the transaction that stores it. Admins get a mail, and webhooks get it if the workspace has a rule for the kind.
 * A `chosen` kind is reported only with a rule, which also says where. The caller broadcasts `mail-waits` and `alert-waits` afterwards;
 * otherwise it is sent a few seconds later.
 */
export async function raiseAlert(
  event: RaisedEvent,
  { sql, clock }: { sql: Transaction; clock: Sources["clock"] },
): Promise<void> {
  const { workspace: id, kind, subject, occurrence, text, data, mail, owners = [] } = event;
  const { name } = await findWorkspace(id, { sql, clock });
  const rule = (await store.selectRules(id, sql)).find((one) => one.kind === kind);
  const isChosen = alertKinds[kind].tells === "chosen";
  if (isChosen && !rule) return;
  const words = { title: mail.subject, text, data, ownMail: mail };
  const alert = {
    ...words,
    kind,
    subject,
    period: occurrence,
    percent: 0,
    owners,
    mail: isChosen ? rule?.mail === true : true,
  };
  // Without the rule's id: under another rule it is still the same event.
  const alerts = [{ ...alert, rule: "", webhooks: rule?.webhooks ?? false }];
  await recordAlerts({ workspace: { id, name }, alerts, at: new Date(clock.now()) }, sql);
}

/**
 * Queues an alert again for the workspace's webhooks, with the same id, so that a receiver recognizes it.
 * @param webhook only this one; null: all, even those that are newer than the alert
 * @throws DomainError not_found, also for another workspace's; conflict without a webhook; forbidden except for admins, super admins and
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
    const event: AuditEvent = { event: "alert.replayed", workspace, target: id, changes: {} };
    return { result: viewAlert(await findAlert(id, tx)), event };
  });
}

interface Tested {
  actor: Actor;
  workspace: { id: WorkspaceId; name: string };
  id: string;
}

/**
 * Sends a test to a webhook at once, without retries.
 * @returns the alert with the outcome
 * @throws DomainError not_found, also for another workspace's; forbidden except for admins, super admins and the operator
 * @throws LimitReachedError after too many in an hour
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
    await store.insertAlerts([rowOf({ ...test, text: "This is a test" }, { id: alert, workspace, at, mails: 0 })], tx);
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

export interface NewAlert extends AlertWords, Pick<store.AlertRow, "kind" | "rule" | "subject" | "period" | "percent"> {
  /** Who gets the mail in addition to the admins, if they are active members. */
  owners: readonly string[];
  mail: boolean;
  webhooks: boolean;
  /** Its own mail; absent: a mail lists the alert's text. */
  ownMail?: { subject: string; body: string };
}

interface AlertedWorkspace {
  id: WorkspaceId;
  name: string;
}

/**
 * Records new alerts with their mails and deliveries. Each recipient gets one mail with all that is new for them. @returns how many of
 * the alerts are new
 */
export async function recordAlerts(
  { workspace, alerts, at }: { workspace: AlertedWorkspace; alerts: readonly NewAlert[]; at: Date },
  tx: Transaction,
): Promise<number> {
  if (alerts.length === 0) return 0;
  const recipients = await recipientsOf(workspace.id, alerts, tx);
  const drafts = alerts.map((alert) => ({ alert, to: recipients(alert), id: newAlertsId("alert", at.getTime()) }));
  const rows = drafts.map(({ alert, to, id }) => rowOf(alert, { id, workspace, at, mails: to.length }));
  const inserted = new Set(await store.insertAlerts(rows, tx));
  const news = drafts.filter(({ id }) => inserted.has(id));
  const mails = new Map<string, NewAlert[]>();
  for (const { alert, to } of news) for (const email of to) mails.set(email, [...(mails.get(email) ?? []), alert]);
  for (const [recipient, news] of mails) {
    for (const mail of mailsOf(news, workspace)) await insertMail({ ticket: null, recipient, ...mail, at }, tx);
  }
  const sent = news.filter(({ alert }) => alert.webhooks).map(({ id }) => id);
  await insertDeliveries({ workspace: workspace.id, alerts: sent, webhook: null, at }, tx);
  return news.length;
}

function viewAlert({ id, kind, text, mails, deliveries }: store.ListedAlert): AlertView {
  return { id, kind, text, created_at: isoTime(timeOfId(id)), mails, deliveries: deliveries.map(viewDelivery) };
}

function viewDelivery({ webhook, triedAt, dueAt, ...rest }: store.ListedAlert["deliveries"][number]): AlertDeliveryView {
  return {
    webhook_id: webhook,
    state: rest.state,
    attempts: rest.attempts,
    status: rest.status,
    failure: rest.failure,
    tried_at: triedAt === null ? null : isoTime(triedAt),
    next_at: rest.state === "waiting" ? isoTime(dueAt) : null,
  };
}

/** Webhooks get these bytes with every attempt, so that each attempt is the same event. */
function rowOf(
  { kind, rule, subject, period, percent, text, data }: Omit<NewAlert, "owners" | "mail" | "webhooks" | "title">,
  { id, workspace, at, mails }: { id: string; workspace: AlertedWorkspace; at: Date; mails: number },
): store.AlertRow {
  const of = { id: workspace.id, name: workspace.name };
  const body = JSON.stringify({ id, type: kind, created_at: isoTime(at.getTime()), workspace: of, text, data });
  return { id, workspace: workspace.id, kind, rule, subject, period, percent, text, body, mails };
}

async function recipientsOf(
  workspace: WorkspaceId,
  alerts: readonly NewAlert[],
  tx: Transaction,
): Promise<(alert: NewAlert) => string[]> {
  const mailed = alerts.filter(({ mail }) => mail);
  if (mailed.length === 0) return () => [];
  const admins = await store.selectAdmins({ workspace, limit: alertMailRecipientsMax }, tx);
  const named = new Set(mailed.flatMap(({ owners }) => owners));
  const active = new Set(await store.selectActive({ workspace, emails: [...named] }, tx));
  return ({ mail, owners }) => (mail ? [...new Set([...admins, ...owners.filter((owner) => active.has(owner))])] : []);
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

Each threshold raises one alert in its period. The Console's page Alerts shows the rules and all alerts, and so does the command line:

  alert list --workspace ${workspace.id}
`;
  return [...own, { subject, body }];
}
