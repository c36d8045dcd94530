/**
 * The SQL of alerts and their rules, and of the comparison of spend with rules.
 *
 * An alert is unique by workspace, kind, rule, subject, period and threshold, so two processes record it once. One process at a time
 * compares a workspace, whose rules it locks. A workspace is compared only if its ledger has grown or its last comparison is old. Spend is
 * read from settled charges.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { arrayText } from "../../backing/sql-text.ts";
import { isoTime, monthBounds, monthOf } from "../../kernel/clock.ts";
import { firstAlertId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { managers } from "../audit/actor.ts";
import type { AlertKind, LimitKind } from "./kinds.ts";

export interface AlertRow {
  id: string;
  workspace: WorkspaceId;
  kind: string;
  /** Empty: no rule. */
  rule: string;
  /** The id of what it is about; empty: the workspace. */
  subject: string;
  period: string;
  percent: number;
  text: string;
  body: string;
  mails: number;
}

/** @returns the ids of those that are new */
export async function insertAlerts(rows: readonly AlertRow[], tx: Transaction): Promise<string[]> {
  const texts = (read: (row: AlertRow) => string) => arrayText(rows, read);
  const inserted = await tx<{ id: string }[]>`
    INSERT INTO alerts (id, workspace_id, kind, rule_id, subject, period, percent, text, body, mails)
    SELECT * FROM unnest(
      ${texts(({ id }) => id)}::text::text[], ${texts(({ workspace }) => workspace)}::text::text[],
      ${texts(({ kind }) => kind)}::text::text[], ${texts(({ rule }) => rule)}::text::text[],
      ${texts(({ subject }) => subject)}::text::text[], ${texts(({ period }) => period)}::text::text[],
      ${arrayText(rows, ({ percent }) => percent)}::text::smallint[], ${texts(({ text }) => text)}::text::text[],
      ${texts(({ body }) => body)}::text::text[], ${arrayText(rows, ({ mails }) => mails)}::text::integer[])
    ON CONFLICT (workspace_id, kind, rule_id, subject, period, percent) DO NOTHING
    RETURNING id`;
  return inserted.map(({ id }) => id);
}

/** The admins who get mails, in order of addresses. */
export async function selectAdmins(
  { workspace, limit }: { workspace: WorkspaceId; limit: number },
  sql: Queries,
): Promise<string[]> {
  const rows = await sql<{ email: string }[]>`
    SELECT m.email FROM members m JOIN accounts a ON a.email = m.email AND a.state = 'active'
    WHERE m.workspace_id = ${workspace} AND m.active AND m.role = ANY(${managers.slice()}::text[]) ORDER BY m.email LIMIT ${limit}`;
  return rows.map(({ email }) => email);
}

/** Keeps the addresses that belong to active members. */
export async function selectActive(
  { workspace, emails }: { workspace: WorkspaceId; emails: string[] },
  sql: Queries,
): Promise<string[]> {
  if (emails.length === 0) return [];
  const rows = await sql<{ email: string }[]>`
    SELECT m.email FROM members m JOIN accounts a ON a.email = m.email AND a.state = 'active'
    WHERE m.workspace_id = ${workspace} AND m.active AND m.email = ANY(${emails}::text[])`;
  return rows.map(({ email }) => email);
}

export interface ListedAlert extends Pick<AlertRow, "id" | "workspace" | "kind" | "text" | "mails"> {
  deliveries: {
    webhook: string;
    state: "waiting" | "delivered" | "given_up";
    attempts: number;
    status: number | null;
    failure: string | null;
    /** Milliseconds. */
    triedAt: number | null;
    dueAt: number;
  }[];
}

const alertColumns = (sql: Queries) => sql`
  id, workspace_id AS workspace, kind, text, mails, (
    SELECT coalesce(json_agg(json_build_object('webhook', webhook_id, 'state', state, 'attempts', attempts, 'status', status,
      'failure', failure, 'triedAt', floor(date_part('epoch', tried_at) * 1000), 'dueAt', floor(date_part('epoch', due_at) * 1000))
      ORDER BY webhook_id), '[]')
    FROM alert_deliveries WHERE alert_id = alerts.id) AS deliveries`;

export async function selectAlert(id: string, sql: Queries): Promise<ListedAlert | undefined> {
  const [row] = await sql<ListedAlert[]>`SELECT ${alertColumns(sql)} FROM alerts WHERE id = ${id}`;
  return row;
}

/** Newest first. @param webhook null: also those without a delivery to it */
export async function selectAlerts(
  { workspace, webhook, before, limit }: { workspace: WorkspaceId; webhook: string | null; before: string | null; limit: number },
  sql: Queries,
): Promise<ListedAlert[]> {
  return sql<ListedAlert[]>`
    SELECT ${alertColumns(sql)} FROM alerts
    WHERE workspace_id = ${workspace} ${before === null ? sql`` : sql`AND id < ${before}`}
      ${webhook === null ? sql`` : sql`AND EXISTS (SELECT FROM alert_deliveries WHERE alert_id = alerts.id AND webhook_id = ${webhook})`}
    ORDER BY id DESC LIMIT ${limit}`;
}

/** Deletes the oldest alerts before a time, with their deliveries. */
export async function deleteAlertsBefore({ ms, limit }: { ms: number; limit: number }, sql: Queries): Promise<void> {
  await sql`
    DELETE FROM alerts WHERE id IN (SELECT id FROM alerts WHERE id < ${firstAlertId(ms)} ORDER BY id LIMIT ${limit})`;
}

export interface AlertRule {
  id: string;
  workspace: WorkspaceId;
  kind: AlertKind;
  /** The only key or member that it watches; empty: all of them. */
  subject: string;
  percents: number[];
  amount: NanoUsd | null;
  mail: boolean;
  webhooks: boolean;
  armed: boolean;
  armings: number;
  createdAt: Date;
}

const ruleColumns = (sql: Queries) => sql`
  id, workspace_id AS workspace, kind, subject, array_to_json(percents) AS percents, amount_nano AS amount, mail, webhooks, armed, armings,
  created_at AS "createdAt"`;

/** In order of creation. */
export async function selectRules(workspace: WorkspaceId, sql: Queries): Promise<AlertRule[]> {
  return sql<AlertRule[]>`SELECT ${ruleColumns(sql)} FROM alert_rules WHERE workspace_id = ${workspace} ORDER BY id`;
}

export async function selectRule(id: string, sql: Queries): Promise<AlertRule | undefined> {
  const [row] = await sql<AlertRule[]>`SELECT ${ruleColumns(sql)} FROM alert_rules WHERE id = ${id}`;
  return row;
}

/** Reads the rules and locks them until the transaction ends: one process at a time compares a workspace. */
export async function lockRules(workspace: WorkspaceId, tx: Transaction): Promise<AlertRule[]> {
  return tx<AlertRule[]>`SELECT ${ruleColumns(tx)} FROM alert_rules WHERE workspace_id = ${workspace} ORDER BY id FOR UPDATE`;
}

/** Locks the workspace's rules and webhooks against additions until the transaction ends. */
export async function lockAlertsOf(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`alerts of ${workspace}`}, 0))`;
}

/** Its workspace is compared in the next round. */
export async function insertRule(rule: Omit<AlertRule, "armed" | "armings">, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO alert_rules (id, workspace_id, kind, subject, percents, amount_nano, mail, webhooks, created_at)
    VALUES (${rule.id}, ${rule.workspace}, ${rule.kind}, ${rule.subject}, ${arrayText(rule.percents, (percent) => percent)}::text::smallint[],
      ${rule.amount}, ${rule.mail}, ${rule.webhooks}, ${rule.createdAt})`;
  await tx`DELETE FROM alert_watches WHERE workspace_id = ${rule.workspace}`;
}

type ChangedRule = Pick<AlertRule, "id" | "workspace" | "subject" | "percents" | "amount" | "mail" | "webhooks">;

/** Its workspace is compared in the next round. A rule whose amount changed is armed again. */
export async function updateRule(
  { id, workspace, subject, percents, amount, mail, webhooks }: ChangedRule,
  tx: Transaction,
): Promise<void> {
  await tx`
    UPDATE alert_rules SET subject = ${subject}, percents = ${arrayText(percents, (percent) => percent)}::text::smallint[],
      mail = ${mail}, webhooks = ${webhooks}, amount_nano = ${amount}::bigint,
      armed = armed OR amount_nano IS DISTINCT FROM ${amount}::bigint,
      armings = armings + (amount_nano IS DISTINCT FROM ${amount}::bigint)::integer
    WHERE id = ${id}`;
  await tx`DELETE FROM alert_watches WHERE workspace_id = ${workspace}`;
}

/** Whether the workspace has this key, not revoked, or this active member. */
export async function isWatchable(
  { workspace, of, subject }: { workspace: WorkspaceId; of: "key" | "member"; subject: string },
  sql: Queries,
): Promise<boolean> {
  const found =
    of === "key"
      ? await sql`SELECT FROM api_keys WHERE workspace_id = ${workspace} AND id = ${subject} AND revoked_at IS NULL`
      : await sql`SELECT FROM members WHERE workspace_id = ${workspace} AND email = ${subject} AND active`;
  return found.length > 0;
}

/** @returns whether it was there */
export async function deleteRuleRow(id: string, tx: Transaction): Promise<boolean> {
  return (await tx`DELETE FROM alert_rules WHERE id = ${id}`).count > 0;
}

/** The number of armings is part of an alert, so that the rule's next alert is a different one. */
export async function updateArmed({ id, armed }: Pick<AlertRule, "id" | "armed">, tx: Transaction): Promise<void> {
  await tx`UPDATE alert_rules SET armed = ${armed}, armings = armings + ${armed ? 1 : 0} WHERE id = ${id}`;
}

export interface ChangedWorkspace {
  id: WorkspaceId;
  name: string;
  /** The last entry of its ledger. */
  sequence: bigint;
  balance: NanoUsd;
}

/** Workspaces with rules whose ledger has grown since they were compared, or that were compared before `before`. */
export async function selectChanged(
  { before, limit }: { before: Date; limit: number },
  sql: Queries,
): Promise<ChangedWorkspace[]> {
  return sql<ChangedWorkspace[]>`
    SELECT w.id, w.name, c.sequence, c.balance_nano AS balance
    FROM workspaces w JOIN credit_accounts c ON c.workspace_id = w.id LEFT JOIN alert_watches a ON a.workspace_id = w.id
    WHERE w.id IN (SELECT workspace_id FROM alert_rules)
      AND (a.sequence IS DISTINCT FROM c.sequence OR a.looked_at < ${before})
    ORDER BY a.looked_at NULLS FIRST LIMIT ${limit}`;
}

export async function updateWatch(
  { workspace, sequence, at }: { workspace: WorkspaceId; sequence: bigint; at: Date },
  tx: Transaction,
): Promise<void> {
  await tx`
    INSERT INTO alert_watches (workspace_id, sequence, looked_at) VALUES (${workspace}, ${sequence}, ${at})
    ON CONFLICT (workspace_id) DO UPDATE SET sequence = excluded.sequence, looked_at = excluded.looked_at`;
}

/** Something with a limit, and what was spent of it in the period. */
export interface Spending {
  /** The id of what has the limit; empty: the workspace. */
  subject: string;
  /** Its name; null: the workspace. */
  name: string | null;
  /** Its owner; null: none. */
  owner: string | null;
  spent: NanoUsd;
  limit: NanoUsd;
  /** The highest threshold that is reached. */
  percent: number;
}

interface Source {
  /** The period that contains a time. */
  period(ms: number): string;
  /** Rows (subject, name, owner, spent, "limit") of a workspace in a period. */
  rows(asked: { workspace: WorkspaceId; period: string }, sql: Queries): ReturnType<Queries>;
}

/** Where each kind finds what is spent. A kind with a limit is a row here. */
export const sources: Record<LimitKind, Source> = {
  key_month: {
    period: monthOf,
    rows: ({ workspace, period }, sql) => sql`
      SELECT k.id AS subject, k.name, k.owner_email AS owner, m.spent_nano AS spent, k.monthly_spend_limit_nano AS "limit"
      FROM api_keys k JOIN key_months m ON m.key_id = k.id AND m.month = ${period}
      WHERE k.workspace_id = ${workspace} AND k.revoked_at IS NULL AND k.monthly_spend_limit_nano IS NOT NULL`,
  },
  workspace_month: {
    period: monthOf,
    rows: ({ workspace, period }, sql) => sql`
      SELECT '' AS subject, NULL AS name, NULL AS owner, m.spent_nano AS spent, w.spend_limit_nano AS "limit"
      FROM workspaces w JOIN workspace_months m ON m.workspace_id = w.id AND m.month = ${period}
      WHERE w.id = ${workspace} AND w.spend_limit_nano IS NOT NULL`,
  },
  key_day: {
    period: dayName,
    rows: ({ workspace, period }, sql) => sql`
      SELECT k.id AS subject, k.name, k.owner_email AS owner, t.spent_nano AS spent, k.daily_spend_limit_nano AS "limit"
      FROM workspaces w JOIN api_keys k ON k.workspace_id = w.id
      ${totalsOf(sql`'day:' || k.id`, { since: Date.parse(period), sql })}
      WHERE w.id = ${workspace} AND k.revoked_at IS NULL AND k.daily_spend_limit_nano IS NOT NULL`,
  },
  workspace_day: {
    period: dayName,
    rows: ({ workspace, period }, sql) => sql`
      SELECT '' AS subject, NULL AS name, NULL AS owner, t.spent_nano AS spent, w.daily_spend_limit_nano AS "limit"
      FROM workspaces w ${totalsOf(sql`'day:'`, { since: Date.parse(period), sql })}
      WHERE w.id = ${workspace} AND w.daily_spend_limit_nano IS NOT NULL`,
  },
  member_month: {
    period: monthOf,
    rows: ({ workspace, period }, sql) => sql`
      SELECT m.email AS subject, '' AS name, m.email AS owner, t.spent_nano AS spent, m.monthly_spend_limit_nano AS "limit"
      FROM workspaces w JOIN members m ON m.workspace_id = w.id
      ${totalsOf(sql`'month:' || m.caller_id`, { since: monthBounds(period).startMs, sql })}
      WHERE w.id = ${workspace} AND m.active AND m.monthly_spend_limit_nano IS NOT NULL`,
  },
};

/** What has reached a threshold of the rule, if neither that one nor a higher one was reported in this period. */
export async function selectReached(
  { rule, kind, period, limit }: { rule: AlertRule; kind: LimitKind; period: string; limit: number },
  tx: Transaction,
): Promise<Spending[]> {
  return tx<Spending[]>`
    SELECT s.subject, s.name, s.owner, s.spent, s."limit", reached.percent
    FROM (${sources[kind].rows({ workspace: rule.workspace, period }, tx)}) AS s
    CROSS JOIN LATERAL (
      SELECT max(percent) AS percent FROM alert_rules r, unnest(r.percents) AS percent
      WHERE r.id = ${rule.id} AND s.spent * 100 >= s."limit" * percent
    ) AS reached
    WHERE reached.percent IS NOT NULL AND ${rule.subject}::text IN ('', s.subject) AND NOT EXISTS (
      SELECT FROM alerts a
      WHERE a.workspace_id = ${rule.workspace} AND a.kind = ${kind} AND a.rule_id = ${rule.id} AND a.subject = s.subject
        AND a.period = ${period} AND a.percent >= reached.percent)
    ORDER BY s.subject LIMIT ${limit}`;
}

/** The UTC day of a time, such as 2026-11-20. */
function dayName(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

type Fragment = ReturnType<Queries>;

/** Joins the budget totals of the period that begins at `since`; see migration 0003. */
function totalsOf(name: Fragment, { since, sql }: { since: number; sql: Queries }): Fragment {
  return sql`JOIN budget_totals t ON t.workspace_id = w.id AND t.name = ${name} AND t.since = ${since}`;
}

/** A rule whose report of a period is due. */
export interface DueReport extends Pick<AlertRule, "id" | "workspace" | "mail" | "webhooks"> {
  /** The workspace's. */
  name: string;
}

/** Rules of a kind that are older than the end of the period, and have not reported it. */
export async function selectDueReports(
  { kind, period, end, limit }: { kind: AlertKind; period: string; end: Date; limit: number },
  sql: Queries,
): Promise<DueReport[]> {
  return sql<DueReport[]>`
    SELECT r.id, r.workspace_id AS workspace, w.name, r.mail, r.webhooks
    FROM alert_rules r JOIN workspaces w ON w.id = r.workspace_id
    WHERE r.kind = ${kind} AND r.created_at < ${end} AND NOT EXISTS (
      SELECT FROM alerts a
      WHERE a.workspace_id = r.workspace_id AND a.kind = r.kind AND a.rule_id = r.id AND a.subject = '' AND a.period = ${period}
        AND a.percent = 0)
    ORDER BY r.id LIMIT ${limit}`;
}
