/** SQL of metering's other work: dead letters, partitions made ahead, accounts to reconcile. */
import type { Database } from "../../backing/backing.ts";
import type { AccountPush } from "../../backing/counters.ts";
import type { Month } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { makeMonthsAhead } from "./months-store.ts";

export interface DeadLetter {
  stream: string;
  messageId: string;
  payload: Uint8Array;
  reason: string;
}

/** The part of the ledger that maintenance needs. The simulation has its own. */
export interface MaintenanceStore {
  storeDeadLetters(letters: DeadLetter[]): Promise<void>;
  /** Makes the partitions of this month and the next. */
  makeMonthsAhead(nowMs: number): Promise<void>;
  listWorkspaces(after: WorkspaceId, limit: number): Promise<WorkspaceId[]>;
  /** Heads and totals of one month, each row from one snapshot. */
  readAccounts(workspaces: WorkspaceId[], month: Month): Promise<AccountPush[]>;
}

export function maintenanceStore(sql: Database): MaintenanceStore {
  return {
    storeDeadLetters: (letters) => storeDeadLetters(letters, sql),
    makeMonthsAhead: (nowMs) => makeMonthsAhead(nowMs, sql),
    listWorkspaces: (after, limit) => listWorkspaces(after, limit, sql),
    readAccounts: (workspaces, month) => readAccounts(workspaces, month, sql),
  };
}

async function storeDeadLetters(letters: DeadLetter[], sql: Database): Promise<void> {
  const rows = letters.map(({ stream, messageId, payload, reason }) => ({
    stream,
    message_id: messageId,
    payload: Buffer.from(payload),
    reason,
  }));
  await sql`INSERT INTO dead_letters ${sql(rows)}`;
}

async function listWorkspaces(after: WorkspaceId, limit: number, sql: Database): Promise<WorkspaceId[]> {
  const rows = await sql<{ workspace_id: string }[]>`
    SELECT workspace_id FROM credit_accounts WHERE workspace_id > ${after} ORDER BY workspace_id LIMIT ${limit}`;
  return rows.map((row) => row.workspace_id);
}

async function readAccounts(workspaces: WorkspaceId[], month: Month, sql: Database): Promise<AccountPush[]> {
  const rows = await sql<{ workspace_id: string; balance_nano: bigint; sequence: bigint; spent: bigint }[]>`
    SELECT account.workspace_id, balance_nano, sequence, coalesce(spent_nano, 0) AS spent
    FROM credit_accounts AS account
    LEFT JOIN workspace_months AS total ON total.workspace_id = account.workspace_id AND total.month = ${month}
    WHERE account.workspace_id = ANY(${workspaces}::text[])`;
  return rows.map((row) => ({
    workspace: row.workspace_id,
    balance: row.balance_nano,
    sequence: row.sequence,
    months: [{ month, spent: row.spent }],
  }));
}
