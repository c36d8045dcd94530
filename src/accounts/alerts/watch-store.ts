/** SQL of comparing spend with rules, from what is settled: months and the ledger's heads. */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { isoTime, monthBounds, monthOf } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import type { LimitKind } from "./kinds.ts";
import type { AlertRule } from "./rule-store.ts";

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

/** What has a limit, with what was spent of it in the period. */
export interface Spending {
  /** The id of what has the limit; empty: the workspace. */
  subject: string;
  /** Its name; null: the workspace. */
  name: string | null;
  /** Whose it is; null: nobody's. */
  owner: string | null;
  spent: NanoUsd;
  limit: NanoUsd;
  /** The highest threshold that is reached. */
  percent: number;
}

export interface Source {
  /** The period that holds a time. */
  period(ms: number): string;
  /** Rows (subject, name, owner, spent, "limit") of a workspace in a period. */
  rows(asked: { workspace: WorkspaceId; period: string }, sql: Queries): ReturnType<Queries>;
}

/** The UTC day of a time, such as 2026-11-20. */
function dayName(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

/** The totals of budgets that are kept for periods with this beginning; see migration 0032. */
function totalsOf(name: Fragment, { since, sql }: { since: number; sql: Queries }): Fragment {
  return sql`JOIN budget_totals t ON t.workspace_id = w.id AND t.name = ${name} AND t.since = ${since}`;
}

type Fragment = ReturnType<Queries>;

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

/** What has reached a threshold of the rule that was not told in this period, nor a higher one. */
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
    WHERE reached.percent IS NOT NULL AND NOT EXISTS (
      SELECT FROM alerts a
      WHERE a.workspace_id = ${rule.workspace} AND a.kind = ${kind} AND a.rule_id = ${rule.id} AND a.subject = s.subject
        AND a.period = ${period} AND a.percent >= reached.percent)
    ORDER BY s.subject LIMIT ${limit}`;
}
