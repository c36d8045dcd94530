/**
 * SQL of metering's other work: dead letters, partitions made ahead, accounts to reconcile, settlements to book again. Settlement itself is
 * store.ts.
 */
import { arrayText } from "../../backing/sql-text.ts";
import type { Database } from "../../backing/backing.ts";
import type { AccountPush } from "../../backing/counters.ts";
import type { Month } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { ledgerVersion } from "../credit/store.ts";
import { makeMonthsAhead } from "./store.ts";

export interface ReplayDue {
  /** The server on which settlements are to be booked again. */
  server: bigint;
  /** Workspaces whose ledger lost entries. Even without any, a standby may lack the last commits. */
  rebuilding: WorkspaceId[];
  /** When the newest generation in the ledger was admitted; null: it has none. What the ledger lost was stored later. */
  newestMs: number | null;
}

export interface DeadLetter {
  stream: string;
  messageId: string;
  payload: Uint8Array;
  reason: string;
}

/** The part of the ledger that maintenance needs. The simulation has its own. */
export interface MaintenanceStore {
  /** The settlements to book again; null: none. */
  replayDue(): Promise<ReplayDue | null>;
  /** The settlements were booked again: counters of these workspaces may be loaded. */
  finishReplay(due: Pick<ReplayDue, "server" | "rebuilding">): Promise<void>;
  storeDeadLetters(letters: DeadLetter[]): Promise<void>;
  /** Makes the partitions of this month and the next. */
  makeMonthsAhead(nowMs: number): Promise<void>;
  listWorkspaces(after: WorkspaceId, limit: number): Promise<WorkspaceId[]>;
  /** Heads and totals of one month, each row from one snapshot. */
  readAccounts(workspaces: WorkspaceId[], month: Month): Promise<AccountPush[]>;
}

export function maintenanceStore(sql: Database): MaintenanceStore {
  return {
    replayDue: () => selectReplayDue(sql),
    finishReplay: (due) => finishReplay(due, sql),
    storeDeadLetters: (letters) => storeDeadLetters(letters, sql),
    makeMonthsAhead: (nowMs) => makeMonthsAhead(nowMs, sql),
    listWorkspaces: (after, limit) => listWorkspaces(after, limit, sql),
    readAccounts: (workspaces, month) => readAccounts(workspaces, month, sql),
  };
}

/** Without a row the database is new, or a backup of one that was: what came after that backup may have been booked on another server. */
async function selectReplayDue(sql: Database): Promise<ReplayDue | null> {
  const [row] = await sql<{ server: bigint; before: bigint | null; rebuilding: WorkspaceId[] }[]>`
    SELECT ledger_server() AS server, (SELECT server FROM ledger_replays) AS before,
      ARRAY(SELECT workspace_id FROM credit_accounts WHERE is_rebuilding ORDER BY workspace_id) AS rebuilding`;
  if (!row) return null;
  const { server, before, rebuilding } = row;
  if (rebuilding.length === 0 && before === server) return null;
  const [newest] = await sql<{ at: Date }[]>`SELECT admitted_at AS at FROM generations ORDER BY generation_id DESC LIMIT 1`;
  return { server, rebuilding, newestMs: newest?.at.getTime() ?? null };
}

/** Does nothing on another server, where the work starts over. */
async function finishReplay({ server, rebuilding }: Pick<ReplayDue, "server" | "rebuilding">, sql: Database): Promise<void> {
  await sql.begin(async (tx) => {
    const [here] = await tx`
      INSERT INTO ledger_replays (server) SELECT ${server} WHERE ledger_server() = ${server}
      ON CONFLICT (is_only) DO UPDATE SET server = excluded.server RETURNING server`;
    if (!here) return;
    await tx`
      UPDATE credit_accounts SET is_rebuilding = false
      WHERE workspace_id = ANY(${arrayText(rebuilding, (workspace) => workspace)}::text[])`;
  });
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
  const rows = await sql<{ workspace_id: string; balance_nano: bigint; epoch: bigint; sequence: bigint; spent: bigint }[]>`
    SELECT account.workspace_id, balance_nano, epoch, sequence, coalesce(spent_nano, 0) AS spent
    FROM credit_accounts AS account
    LEFT JOIN workspace_months AS total ON total.workspace_id = account.workspace_id AND total.month = ${month}
    WHERE account.workspace_id = ANY(${workspaces}::text[])`;
  return rows.map((row) => ({
    workspace: row.workspace_id,
    balance: row.balance_nano,
    sequence: ledgerVersion({ epoch: row.epoch, number: row.sequence }),
    months: [{ month, spent: row.spent }],
  }));
}
