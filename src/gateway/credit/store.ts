import type { Queries, Transaction } from "../../backing/backing.ts";
import type { Month } from "../../kernel/clock.ts";
import type { GenerationId, KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";

/** The head of a workspace's ledger chain. */
export interface LedgerHead {
  balance: NanoUsd;
  sequence: bigint;
}

/** Locks the chain's head, so that no other transaction advances the chain until this one ends. */
export async function lockHead(workspace: WorkspaceId, tx: Transaction): Promise<LedgerHead | undefined> {
  const [row] = await tx<LedgerHead[]>`
    SELECT balance_nano AS balance, sequence FROM credit_accounts WHERE workspace_id = ${workspace} FOR UPDATE`;
  return row;
}

/** What an entry without charges does. Credit, and what returns to the balance, is above zero; what is taken back is below. */
export type EntryKind = "credit" | "refund" | "refund_reversed" | "dispute" | "dispute_reinstated";

/** The amount that is booked as this kind under this reference; undefined: none yet. */
export async function selectEntry(
  { workspace, kind, reference }: { workspace: WorkspaceId; kind: EntryKind; reference: string },
  tx: Transaction,
): Promise<NanoUsd | undefined> {
  const [row] = await tx<{ amount: NanoUsd }[]>`
    SELECT amount_nano AS amount FROM ledger_entries
    WHERE workspace_id = ${workspace} AND reference = ${reference} AND kind = ${kind}`;
  return row?.amount;
}

export interface NewEntry extends LedgerHead {
  workspace: WorkspaceId;
  kind: EntryKind;
  amount: NanoUsd;
  reference: string;
}

/** Appends an entry to the chain and advances its head. The caller holds the head's lock. */
export async function appendEntry(entry: NewEntry, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference)
    VALUES (${entry.workspace}, ${entry.sequence}, ${entry.kind}, ${entry.amount}, ${entry.balance}, ${entry.reference})`;
  await tx`
    UPDATE credit_accounts SET balance_nano = ${entry.balance}, sequence = ${entry.sequence}
    WHERE workspace_id = ${entry.workspace}`;
}

export interface AccountRow extends LedgerHead {
  epoch: bigint;
  isReady: boolean;
  months: { month: Month; spent: string }[] | null;
  /** The latest total of each budget, with the callers that it counts; null: there are none. */
  budgets: { name: string; since: string; spent: string; callers: KeyId[] | null }[] | null;
  ended: GenerationId[] | null;
}

/**
 * Head, totals of the newest months and of budgets, and those of the generations that are charged, by one statement and thus one snapshot.
 * Totals are sent as text, since JSON has no 64-bit integers.
 */
export async function selectAccount(
  { workspace, generations, monthsMax }: { workspace: WorkspaceId; generations: GenerationId[]; monthsMax: number },
  sql: Queries,
): Promise<AccountRow | undefined> {
  const [row] = await sql<AccountRow[]>`
    SELECT balance_nano AS balance, sequence, epoch, NOT is_rebuilding AND server IN (0, ledger_server()) AS "isReady",
      (SELECT json_agg(json_build_object('month', newest.month, 'spent', newest.spent_nano::text)) FROM (
        SELECT month, spent_nano FROM workspace_months WHERE workspace_id = ${workspace} ORDER BY month DESC LIMIT ${monthsMax}
      ) AS newest) AS months,
      CASE WHEN has_budgets THEN (
        SELECT json_agg(json_build_object('name', name, 'since', since::text, 'spent', spent_nano::text,
          'callers', budget_callers(workspace_id, name)))
        FROM budget_totals AS total WHERE total.workspace_id = credit_accounts.workspace_id AND NOT EXISTS (
          SELECT FROM budget_totals AS later
          WHERE later.workspace_id = total.workspace_id AND later.name = total.name AND later.since > total.since)
      ) END AS budgets,
      (SELECT json_agg(generation) FROM outcomes_of(${generations}::text[])) AS ended
    FROM credit_accounts WHERE workspace_id = ${workspace}`;
  return row;
}

/** One statement, thus one snapshot; undefined: there is no such workspace. */
export async function selectKeyMonth(
  { workspace, key, month }: { workspace: WorkspaceId; key: KeyId; month: Month },
  sql: Queries,
): Promise<{ spent: NanoUsd | null; version: bigint | null; epoch: bigint; sequence: bigint } | undefined> {
  const [row] = await sql<{ spent: NanoUsd | null; version: bigint | null; epoch: bigint; sequence: bigint }[]>`
    SELECT spent_nano AS spent, version, epoch, sequence
    FROM credit_accounts LEFT JOIN key_months ON key_id = ${key} AND month = ${month}
    WHERE workspace_id = ${workspace}`;
  return row;
}
