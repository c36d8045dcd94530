/** All SQL of budgets' totals. A total changes only with the head of its workspace's ledger, whose sequence is its version. */
import { arrayText } from "../../backing/array-text.ts";
import type { Database, Queries, Transaction } from "../../backing/backing.ts";
import type { BudgetHold, BudgetPush } from "../../backing/counters.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { ledgerVersion } from "./ledger-version.ts";

export interface WantedTotals {
  workspace: WorkspaceId;
  totals: readonly BudgetHold[];
}

/** Totals of periods that long ago ended go when a later one is opened. In milliseconds. */
const keptMs = { day: 2 * 86_400_000, month: 62 * 86_400_000 };

/**
 * The totals of these periods. Those that the ledger does not keep yet are summed from the charges, and from then on settlement adds to
 * them.
 * @throws Error when there is no such workspace
 */
export async function openBudgets(wanted: WantedTotals, sql: Database): Promise<BudgetPush[]> {
  const known = await selectTotals(wanted, sql);
  if (known.length === wanted.totals.length) return known;
  return sql.begin(async (tx) => {
    await lockAccount(wanted.workspace, tx);
    await insertTotals(wanted, tx);
    await deleteEnded(wanted, tx);
    return selectTotals(wanted, tx);
  }) as Promise<BudgetPush[]>;
}

/** While the account is locked, no settlement changes what the charges sum to. */
async function lockAccount(workspace: WorkspaceId, tx: Transaction): Promise<void> {
  const [account] = await tx<{ hasBudgets: boolean }[]>`
    SELECT has_budgets AS "hasBudgets" FROM credit_accounts WHERE workspace_id = ${workspace} FOR NO KEY UPDATE`;
  if (!account) throw new Error(`Cannot open budgets: there is no workspace "${workspace}"`);
  if (!account.hasBudgets) await tx`UPDATE credit_accounts SET has_budgets = true WHERE workspace_id = ${workspace}`;
}

async function insertTotals({ workspace, totals }: WantedTotals, tx: Transaction): Promise<void> {
  await tx`
    INSERT INTO budget_totals (workspace_id, name, since, spent_nano)
    SELECT ${workspace}, name, since, budget_spent(${workspace}, name, since)
    FROM ${unnested(totals, tx)} AS wanted (name, since)
    WHERE NOT EXISTS (
      SELECT FROM budget_totals AS total
      WHERE total.workspace_id = ${workspace} AND total.name = wanted.name AND total.since = wanted.since)`;
}

async function deleteEnded({ workspace, totals }: WantedTotals, tx: Transaction): Promise<void> {
  await tx`
    DELETE FROM budget_totals AS total USING ${unnested(totals, tx)} AS wanted (name, since)
    WHERE total.workspace_id = ${workspace} AND total.name = wanted.name AND total.since
      < wanted.since - CASE WHEN total.name LIKE 'day:%' THEN ${keptMs.day}::bigint ELSE ${keptMs.month}::bigint END`;
}

/** One statement, thus one snapshot. */
async function selectTotals({ workspace, totals }: WantedTotals, sql: Queries): Promise<BudgetPush[]> {
  const rows = await sql<BudgetTotalRow[]>`
    SELECT ${workspace} AS workspace, total.name, total.since, spent_nano AS spent, epoch, sequence
    FROM ${unnested(totals, sql)} AS wanted (name, since)
    JOIN budget_totals AS total ON total.workspace_id = ${workspace} AND total.name = wanted.name AND total.since = wanted.since
    JOIN credit_accounts AS account ON account.workspace_id = total.workspace_id`;
  return rows.map(({ epoch, sequence, ...row }) => {
    return { ...row, since: Number(row.since), sequence: ledgerVersion({ epoch, number: sequence }) };
  });
}

interface BudgetTotalRow extends Omit<BudgetPush, "since"> {
  since: bigint;
  epoch: bigint;
}

function unnested(totals: readonly BudgetHold[], sql: Queries) {
  return sql`unnest(${arrayText(totals, ({ name }) => name)}::text[], ${arrayText(totals, ({ since }) => since)}::bigint[])`;
}

/** What the callers of budgets were charged, with the beginnings of the periods that it counts in. */
export interface BudgetSum {
  workspace: WorkspaceId;
  key: KeyId;
  day: number;
  month: number;
  spent: NanoUsd;
}

/** Adds to the totals that the ledger keeps. @returns all of these callers and periods after it, without a sequence */
export async function addToBudgets(sums: readonly BudgetSum[], tx: Transaction): Promise<Omit<BudgetPush, "sequence">[]> {
  if (sums.length === 0) return [];
  const rows = await tx<Omit<BudgetTotalRow, "sequence" | "epoch">[]>`
    WITH part AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayText(sums, ({ workspace }) => workspace)}::text[], ${arrayText(sums, ({ key }) => key)}::text[],
        ${arrayText(sums, ({ day }) => day)}::bigint[], ${arrayText(sums, ({ month }) => month)}::bigint[],
        ${arrayText(sums, ({ spent }) => spent)}::bigint[]) AS part (workspace, key, day, month, spent)
    ), named AS (
      SELECT workspace, 'day:' || key AS name, day AS since, spent FROM part
      UNION ALL SELECT workspace, 'day:', day, spent FROM part
      UNION ALL SELECT workspace, 'month:' || coalesce(caller_id, key), month, spent FROM part
        LEFT JOIN api_keys ON api_keys.id = key
        LEFT JOIN members ON members.workspace_id = part.workspace AND members.email = owner_email
    ), sum AS (
      SELECT workspace, name, since, sum(spent)::bigint AS spent FROM named GROUP BY workspace, name, since
    )
    UPDATE budget_totals AS total SET spent_nano = spent_nano + sum.spent FROM sum
    WHERE total.workspace_id = sum.workspace AND total.name = sum.name COLLATE "C" AND total.since = sum.since
    RETURNING total.workspace_id AS workspace, total.name, total.since, spent_nano AS spent`;
  return rows.map((row) => ({ ...row, since: Number(row.since) }));
}
