/** SQL of metering's other work: dead letters, partitions made ahead, accounts to reconcile. */
import type { Database } from "../../backing/backing.ts";
import type { AccountPush } from "../../backing/counters.ts";
import { monthBounds, monthOf, type Month } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";

export interface DeadLetter {
  stream: string;
  messageId: string;
  payload: Uint8Array;
  reason: string;
}

/** The part of the ledger that maintenance needs. The simulation has its own. */
export interface MaintenanceStore {
  storeDeadLetters(letters: DeadLetter[]): Promise<void>;
  /** Creates the request log's partitions of this month and the next. */
  createLogPartitions(nowMs: number): Promise<void>;
  listWorkspaces(after: WorkspaceId, limit: number): Promise<WorkspaceId[]>;
  /** Heads and totals of one month, each row from one snapshot. */
  readAccounts(workspaces: WorkspaceId[], month: Month): Promise<AccountPush[]>;
}

export function maintenanceStore(sql: Database): MaintenanceStore {
  return {
    storeDeadLetters: (letters) => storeDeadLetters(letters, sql),
    createLogPartitions: (nowMs) => createLogPartitions(nowMs, sql),
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

/** Creates the request log's partitions of this month and the next, if they are missing. */
export async function createLogPartitions(nowMs: number, sql: Database): Promise<void> {
  const thisMonth = monthOf(nowMs);
  const nextMonth = monthOf(monthBounds(thisMonth).endMs);
  for (const month of [thisMonth, nextMonth]) await createLogPartition(month, sql);
}

/** Moves rows of this month from the default partition into the new one. */
async function createLogPartition(month: string, sql: Database): Promise<void> {
  const name = `request_log_${month.replace("-", "_")}`;
  const { startMs, endMs } = monthBounds(month);
  const [from, to] = [startMs, endMs].map((ms) => new Date(ms).toISOString()) as [string, string];
  await sql.begin(async (tx) => {
    await tx`SELECT pg_advisory_xact_lock(hashtext('request_log partitions'))`;
    const [present] = await tx`SELECT 1 FROM pg_class WHERE relname = ${name}`;
    if (present) return;
    // Writers wait: a row that came into the default partition after the move would fail the attachment, for ever under load.
    await tx`LOCK TABLE ONLY request_log IN SHARE ROW EXCLUSIVE MODE`;
    await tx`CREATE TABLE ${tx(name)} (LIKE request_log INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`;
    await tx`WITH moved AS (DELETE FROM request_log_default WHERE at >= ${from} AND at < ${to} RETURNING *)
      INSERT INTO ${tx(name)} SELECT * FROM moved`;
    await tx.unsafe(`ALTER TABLE request_log ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
  });
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
