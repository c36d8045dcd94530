/**
 * The SQL of workspaces and their settings. A workspace is made with the empty head of its ledger. Settings are locked while they change,
 * so that two changes at once both take effect. Balance and spend come from the ledger; only the counters know what is currently reserved.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { dayOf, monthOf } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

export interface Settings {
  enabled: boolean;
  spendLimit: NanoUsd | null;
  dailySpendLimit: NanoUsd | null;
  fallbacks: boolean;
  zeroDataRetention: boolean;
  promptStorage: boolean;
  /** null: stored prompts stay until they are deleted. */
  promptRetentionDays: number | null;
  costInAnswers: boolean;
  idempotentReplay: boolean;
  ownKeyFallback: boolean;
  earlyAccess: string[];
}

export interface WorkspaceRow extends Settings {
  id: WorkspaceId;
  name: string;
  balance: NanoUsd;
  /** Charged in the month of the requested time. */
  monthSpent: NanoUsd;
  /** Charged on the UTC day of that time; null: it has no daily limit. */
  daySpent: NanoUsd | null;
}

/** Adds a workspace and the empty head of its ledger. @returns false if the name exists */
export async function insertWorkspace(
  { id, name, at }: { id: WorkspaceId; name: string; at: number },
  tx: Transaction,
): Promise<boolean> {
  const inserted = await tx`
    INSERT INTO workspaces (id, name, created_at) VALUES (${id}, ${name}, ${new Date(at)}) ON CONFLICT (name) DO NOTHING`;
  if (inserted.count === 0) return false;
  await tx`INSERT INTO credit_accounts (workspace_id) VALUES (${id})`;
  return true;
}

/** @param workspace an id or an exact name; null: all of them, oldest first */
export async function selectWorkspaces(
  { workspace, now }: { workspace: string | null; now: number },
  sql: Queries,
): Promise<WorkspaceRow[]> {
  return sql<WorkspaceRow[]>`
    SELECT w.id, w.name, w.enabled, w.spend_limit_nano AS "spendLimit", w.daily_spend_limit_nano AS "dailySpendLimit", w.fallbacks,
      w.zero_data_retention AS "zeroDataRetention", w.prompt_storage AS "promptStorage", w.cost_in_answers AS "costInAnswers",
      w.idempotent_replay AS "idempotentReplay",
      w.prompt_retention_days AS "promptRetentionDays", w.own_key_fallback AS "ownKeyFallback",
      w.early_access AS "earlyAccess",
      c.balance_nano AS balance, coalesce(m.spent_nano, 0) AS "monthSpent",
      CASE WHEN w.daily_spend_limit_nano IS NOT NULL THEN budget_total(w.id, 'day:', ${dayOf(now)}) END AS "daySpent"
    FROM workspaces w
    JOIN credit_accounts c ON c.workspace_id = w.id
    LEFT JOIN workspace_months m ON m.workspace_id = w.id AND m.month = ${monthOf(now)}
    ${workspace === null ? sql`` : sql`WHERE w.id = ${workspace} OR w.name = ${workspace}`}
    ORDER BY w.id`;
}

/** Reads the settings and locks them until the transaction ends. */
export async function lockSettings(workspace: WorkspaceId, tx: Transaction): Promise<Settings | undefined> {
  const [row] = await tx<Settings[]>`
    SELECT enabled, spend_limit_nano AS "spendLimit", daily_spend_limit_nano AS "dailySpendLimit", fallbacks, zero_data_retention AS "zeroDataRetention",
      prompt_storage AS "promptStorage", prompt_retention_days AS "promptRetentionDays", cost_in_answers AS "costInAnswers",
      idempotent_replay AS "idempotentReplay", own_key_fallback AS "ownKeyFallback", early_access AS "earlyAccess"
    FROM workspaces WHERE id = ${workspace} FOR UPDATE`;
  return row;
}

export async function updateSettings(workspace: WorkspaceId, settings: Settings, tx: Transaction): Promise<void> {
  await tx`
    UPDATE workspaces SET enabled = ${settings.enabled}, spend_limit_nano = ${settings.spendLimit},
      daily_spend_limit_nano = ${settings.dailySpendLimit},
      fallbacks = ${settings.fallbacks}, zero_data_retention = ${settings.zeroDataRetention},
      prompt_storage = ${settings.promptStorage}, prompt_retention_days = ${settings.promptRetentionDays},
      cost_in_answers = ${settings.costInAnswers}, idempotent_replay = ${settings.idempotentReplay}, own_key_fallback = ${settings.ownKeyFallback}, early_access = ${settings.earlyAccess}
    WHERE id = ${workspace}`;
}

/** Whether any workspace exists. */
export async function anyWorkspace(sql: Queries): Promise<boolean> {
  const rows = await sql`SELECT 1 FROM workspaces LIMIT 1`;
  return rows.length > 0;
}

/** Prevents others from adding or changing a workspace until the transaction ends. */
export async function lockWorkspaces(tx: Transaction): Promise<void> {
  await tx`LOCK TABLE workspaces IN EXCLUSIVE MODE`;
}

/** In order of names. */
export async function selectWorkspaceNames(limit: number, sql: Queries): Promise<{ id: WorkspaceId; name: string }[]> {
  return sql<{ id: WorkspaceId; name: string }[]>`SELECT id, name FROM workspaces ORDER BY name LIMIT ${limit}`;
}
