/**
 * Invariants of the stored money, one SQL statement each. A statement reads whole tables, counts the rows that it checked, and names the
 * first row that breaks the invariant (in the order of its text, so that the same state always names the same row).
 */
import type { Queries } from "../../backing/backing.ts";

export interface Finding {
  rows: bigint;
  /** What breaks the invariant and where; null: it holds. */
  broken: string | null;
}

async function only(finding: Promise<Finding[]>): Promise<Finding> {
  const [row] = await finding;
  return row ?? { rows: 0n, broken: null };
}

/** Entries of a workspace are numbered 1, 2, 3 … without a gap. */
function chainIsGapless(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s: entry %s follows entry %s', workspace_id, sequence, before)) FILTER (WHERE sequence <> before + 1)
        AS broken
    FROM (
      SELECT workspace_id, sequence, lag(sequence, 1, 0::bigint) OVER (PARTITION BY workspace_id ORDER BY sequence) AS before
      FROM ledger_entries
    ) AS entry`);
}

/** Each entry's balance is the previous balance plus its amount. Credit is positive, charges are negative. */
function balanceRuns(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s, entry %s: %s of %s after a balance of %s gives %s', workspace_id, sequence, kind, amount_nano, before,
        balance_after_nano)) FILTER (WHERE balance_after_nano <> before + amount_nano OR (kind = 'credit') <> (amount_nano > 0))
        AS broken
    FROM (
      SELECT workspace_id, sequence, kind, amount_nano, balance_after_nano,
        lag(balance_after_nano, 1, 0::bigint) OVER (PARTITION BY workspace_id ORDER BY sequence) AS before
      FROM ledger_entries
    ) AS entry`);
}

/** A workspace's account equals the last entry of its chain, and every chain has an account. */
function accountIsHead(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows, coalesce(
      (SELECT min(format('workspace %s: there are entries and no account', workspace_id)) FROM ledger_entries AS entry
        WHERE NOT EXISTS (SELECT FROM credit_accounts WHERE credit_accounts.workspace_id = entry.workspace_id)),
      min(format('workspace %s: the account is at entry %s with %s, the chain ends at entry %s with %s', account.workspace_id,
        account.sequence, account.balance_nano, coalesce(last.sequence, 0), coalesce(last.balance_after_nano, 0)))
        FILTER (WHERE account.sequence <> coalesce(last.sequence, 0) OR account.balance_nano <> coalesce(last.balance_after_nano, 0))
      ) AS broken
    FROM credit_accounts AS account
    LEFT JOIN LATERAL (
      SELECT sequence, balance_after_nano FROM ledger_entries AS entry
      WHERE entry.workspace_id = account.workspace_id ORDER BY sequence DESC LIMIT 1
    ) AS last ON true`);
}

/**
 * A balance is below zero by at most the amount charged outside of reservations up to that entry: late charges in full, others by their
 * cost above the reservation. Workspaces that were never below zero are left out.
 */
function overdraftIsExplained(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    WITH overdrawn AS (SELECT DISTINCT workspace_id FROM ledger_entries WHERE balance_after_nano < 0)
    SELECT (SELECT count(*) FROM ledger_entries) AS rows,
      min(format('workspace %s, entry %s: a balance of %s where late charges and charges above their reservation explain %s',
        workspace_id, sequence, balance_after_nano, -explained)) FILTER (WHERE balance_after_nano + explained < 0) AS broken
    FROM (
      SELECT entry.workspace_id, entry.sequence, entry.balance_after_nano,
        sum(CASE WHEN charge.late THEN charge.cost_nano ELSE greatest(coalesce(charge.cost_nano - charge.reserved_nano, 0), 0) END)
          OVER (PARTITION BY entry.workspace_id ORDER BY entry.sequence) AS explained
      FROM ledger_entries AS entry
      JOIN overdrawn ON overdrawn.workspace_id = entry.workspace_id
      LEFT JOIN charges AS charge ON charge.generation_id = entry.reference AND entry.kind = 'charge'
    ) AS entry`);
}

/** Every charge above zero has an entry of the same amount, and every charge entry has a charge. */
function chargesAreEntered(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: charged %s in workspace %s, entered %s in workspace %s', coalesce(generation_id, reference),
        coalesce(cost_nano::text, 'nothing'), charge.workspace_id, coalesce(amount_nano::text, 'nothing'), entry.workspace_id))
        FILTER (WHERE cost_nano IS NULL OR cost_nano <> -coalesce(amount_nano, 0)
          OR charge.workspace_id <> coalesce(entry.workspace_id, charge.workspace_id))
        AS broken
    FROM charges AS charge
    FULL JOIN (SELECT workspace_id, reference, amount_nano FROM ledger_entries WHERE kind = 'charge') AS entry
      ON entry.reference = charge.generation_id`);
}

/** In each workspace the sum of charges equals the sum of charge entries: nothing was entered twice. */
function sumsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT coalesce(sum(charges), 0)::bigint AS rows,
      min(format('workspace %s: charges of %s, entries of %s', workspace_id, coalesce(charged, 0), coalesce(entered, 0)))
        FILTER (WHERE coalesce(charged, 0) <> coalesce(entered, 0)) AS broken
    FROM (SELECT workspace_id, sum(cost_nano) AS charged, count(*) AS charges FROM charges GROUP BY workspace_id) AS charge
    FULL JOIN (SELECT workspace_id, -sum(amount_nano) AS entered FROM ledger_entries WHERE kind = 'charge' GROUP BY workspace_id)
      AS entry USING (workspace_id)`);
}

/** A workspace's total of a month is the sum of that month's charges. */
function workspaceMonthsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s, %s: charges of %s, a total of %s', workspace_id, month, coalesce(charged, 0), coalesce(spent_nano, 0)))
        FILTER (WHERE coalesce(charged, 0) <> coalesce(spent_nano, 0)) AS broken
    FROM (SELECT workspace_id, month, sum(cost_nano) AS charged FROM charges GROUP BY workspace_id, month) AS charge
    FULL JOIN workspace_months USING (workspace_id, month)`);
}

/** A key's total of a month is the sum of its charges in that month. */
function keyMonthsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('key %s, %s: charges of %s, a total of %s', key_id, month, coalesce(charged, 0), coalesce(spent_nano, 0)))
        FILTER (WHERE coalesce(charged, 0) <> coalesce(spent_nano, 0)) AS broken
    FROM (SELECT key_id, month, sum(cost_nano) AS charged FROM charges GROUP BY key_id, month) AS charge
    FULL JOIN key_months USING (key_id, month)`);
}

/** Every charge has one row in the request log with the same workspace, key and cost, and every row has a charge. */
function logAgrees(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: charged %s, logged %s in %s rows', generation_id, coalesce(charge.cost_nano::text, 'nothing'),
        coalesce(logged.cost_nano::text, 'nothing'), coalesce(logged.rows, 0)))
        FILTER (WHERE charge.cost_nano IS NULL OR logged.rows IS DISTINCT FROM 1 OR charge.cost_nano <> logged.cost_nano
          OR charge.workspace_id <> logged.workspace_id OR charge.key_id <> logged.key_id)
        AS broken
    FROM charges AS charge
    FULL JOIN (
      SELECT generation_id, count(*) AS rows, sum(cost_nano) AS cost_nano, min(workspace_id) AS workspace_id, min(key_id) AS key_id
      FROM request_log GROUP BY generation_id
    ) AS logged USING (generation_id)`);
}

/** A charge plus its excess is the exact cost in pico-USD, rounded half up once. */
function costsAreRounded(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: %s pico-USD charged as %s nano-USD and an excess of %s', generation_id, cost_pico, cost_nano, excess_nano))
        FILTER (WHERE cost_nano::numeric + coalesce(excess_nano, 0) <> least(div(cost_pico + 500, 1000), 9223372036854775807)) AS broken
    FROM charges`);
}

/** No charge exceeds its reservation, and a cost is charged in full unless the reservation or the balance was used up. */
function chargesAreWithin(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: %s of a reservation of %s charged, with an excess of %s', generation_id, cost_nano, reserved_nano, excess_nano))
        FILTER (WHERE cost_nano > reserved_nano
          OR (excess_nano > 0 AND cost_nano > 0 AND cost_nano < reserved_nano AND entry.balance_after_nano <> 0)) AS broken
    FROM charges AS charge
    LEFT JOIN (SELECT reference, balance_after_nano FROM ledger_entries WHERE kind = 'charge') AS entry
      ON excess_nano > 0 AND entry.reference = charge.generation_id
    WHERE excess_nano IS NOT NULL`);
}

/** No charge leaves a balance below zero. Charges from before this rule have no excess and are left out. */
function chargesLeaveNoDebt(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    WITH overdrawn AS (
      SELECT workspace_id, sequence, balance_after_nano, reference FROM ledger_entries WHERE kind = 'charge' AND balance_after_nano < 0
    )
    SELECT (SELECT count(*) FROM ledger_entries WHERE kind = 'charge') AS rows,
      min(format('workspace %s, entry %s: a charge left a balance of %s', overdrawn.workspace_id, sequence, balance_after_nano)) AS broken
    FROM overdrawn JOIN charges ON generation_id = reference AND excess_nano IS NOT NULL`);
}

/** A client that disconnected after the first token is charged for the prompt and the produced tokens. */
function disconnectIsCharged(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: its client left after its first token, and is charged for %s and %s tokens', generation_id,
        prompt_tokens, completion_tokens)) FILTER (WHERE usage_estimated AND (prompt_tokens = 0 OR completion_tokens = 0)
          OR prompt_tokens + completion_tokens = 0) AS broken
    FROM request_log JOIN charges USING (generation_id)
    WHERE status = 499 AND first_token_ms IS NOT NULL AND excess_nano IS NOT NULL`);
}

/** By the names that `ledger verify` shows, in the order of the checks. */
export const invariants: Readonly<Record<string, (sql: Queries) => Promise<Finding>>> = {
  gapless_chain: chainIsGapless,
  running_balance: balanceRuns,
  account_is_chain_head: accountIsHead,
  overdraft_explained: overdraftIsExplained,
  charge_has_entry: chargesAreEntered,
  charges_sum_to_entries: sumsAgree,
  workspace_month_totals: workspaceMonthsAgree,
  key_month_totals: keyMonthsAgree,
  charge_has_log_row: logAgrees,
  cost_rounded_half_up: costsAreRounded,
  charge_within_reservation: chargesAreWithin,
  charge_leaves_no_debt: chargesLeaveNoDebt,
  leaving_is_charged: disconnectIsCharged,
};
