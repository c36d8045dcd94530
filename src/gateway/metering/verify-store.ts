/**
 * Invariants of the stored money, one SQL statement each; `invariants` has their names, which operators read in `ledger verify`. A
 * statement reads whole tables, counts the rows that it checked, and names the first row that breaks the invariant, in the order of its
 * text, so that the same state always names the same row.
 * The statements read what was stored and not the code that stored it: each sum is taken from the charges again. Where retention has
 * deleted rows, the sums that it keeps stand for them.
 * Statements are checked by hash, by their chain and against their entries, here as well, since `ledger verify` is one answer about all
 * money.
 */
import type { Queries, Transaction } from "../../backing/backing.ts";
import { idempotencyMs } from "../limits.ts";

/**
 * Prevents deletion of months until the transaction ends. It has to be the transaction's first statement, which takes no snapshot:
 * retention after a snapshot drops rows whose sums the snapshot lacks.
 */
export async function keepMonths(tx: Transaction): Promise<void> {
  await tx`LOCK TABLE generations IN ACCESS SHARE MODE`;
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

/** Each entry's balance is the previous balance plus its amount. Incoming amounts are positive; charges and amounts taken back are not. */
function balanceRuns(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s, entry %s: %s of %s after a balance of %s gives %s', workspace_id, sequence, kind, amount_nano, before,
        balance_after_nano)) FILTER (WHERE balance_after_nano <> before + amount_nano OR
        (kind IN ('credit', 'refund_reversed', 'dispute_reinstated')) <> (amount_nano > 0)) AS broken
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

/** A balance is below zero by at most the amount that refunds and disputes have taken back up to it. */
function overdraftIsExplained(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    WITH overdrawn AS (SELECT DISTINCT workspace_id FROM ledger_entries WHERE balance_after_nano < 0)
    SELECT (SELECT count(*) FROM ledger_entries) AS rows,
      min(format('workspace %s, entry %s: a balance of %s where refunds and disputes explain %s', workspace_id, sequence, balance_after_nano,
        taken)) FILTER (WHERE balance_after_nano < taken) AS broken
    FROM (
      SELECT workspace_id, sequence, balance_after_nano,
        coalesce(sum(amount_nano) FILTER (WHERE kind NOT IN ('credit', 'charge'))
          OVER (PARTITION BY workspace_id ORDER BY sequence), 0) AS taken
      FROM ledger_entries JOIN overdrawn USING (workspace_id)
    ) AS entry WHERE balance_after_nano < 0`);
}

/**
 * The charges of every entry add up to it in count and amount, every charge has an entry in its workspace, and none stands outside of
 * one. Where retention has deleted rows, those that are left add up to no more.
 */
function entriesAddUp(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT coalesce(sum(charge.charges), 0)::bigint AS rows,
      min(format('workspace %s, entry %s: %s charges of %s entered, %s charges of %s stored', workspace_id, coalesce(sequence::text, 'none'),
        coalesce(entry.charges, 0), coalesce(entry.amount, 0), coalesce(charge.charges, 0), coalesce(charge.amount, 0)))
        FILTER (WHERE CASE
          WHEN entry.charges IS NULL THEN charge.amount > 0 OR sequence IS NOT NULL
          WHEN sequence <= retained.sequence_max THEN charge.charges > entry.charges OR charge.amount > entry.amount
          ELSE (charge.charges, charge.amount) IS DISTINCT FROM (entry.charges, entry.amount) END) AS broken
    FROM (
      SELECT workspace_id, entry AS sequence, count(*) AS charges, sum(cost_nano) AS amount FROM generations GROUP BY workspace_id, entry
    ) AS charge
    FULL JOIN (
      SELECT workspace_id, sequence, charges::bigint, -amount_nano::numeric AS amount
      FROM ledger_entries WHERE kind = 'charge'
    ) AS entry USING (workspace_id, sequence)
    LEFT JOIN (SELECT workspace_id, sequence AS sequence_max FROM retained_entries) AS retained USING (workspace_id)`);
}

/** In each workspace, charges and what retention keeps of deleted ones equal the entries of charges, in count and amount. */
function sumsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    WITH charge AS (
      SELECT workspace_id, sum(charges) AS charges, sum(amount) AS amount FROM (
        SELECT workspace_id, count(entry) AS charges, sum(cost_nano) AS amount FROM generations GROUP BY workspace_id
        UNION ALL SELECT workspace_id, sum(charges), sum(cost_nano) FROM generation_days GROUP BY workspace_id
      ) AS part GROUP BY workspace_id
    )
    SELECT coalesce(sum(charge.charges), 0)::bigint AS rows,
      min(format('workspace %s: %s charges of %s, entries of %s charges and %s', workspace_id, coalesce(charge.charges, 0),
        coalesce(charge.amount, 0), coalesce(entry.charges, 0), coalesce(entry.amount, 0)))
        FILTER (WHERE coalesce(charge.charges, 0) <> coalesce(entry.charges, 0) OR coalesce(charge.amount, 0) <> coalesce(entry.amount, 0))
        AS broken
    FROM charge FULL JOIN (
      SELECT workspace_id, sum(charges) AS charges, -sum(amount_nano) AS amount
      FROM ledger_entries WHERE kind = 'charge' GROUP BY workspace_id
    ) AS entry USING (workspace_id)`);
}

/** A workspace's total of a month is the sum of that month's charges. */
function workspaceMonthsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s, %s: charges of %s, a total of %s', workspace_id, month, coalesce(charged, 0), coalesce(spent_nano, 0)))
        FILTER (WHERE coalesce(charged, 0) <> coalesce(spent_nano, 0)) AS broken
    FROM (SELECT workspace_id, month, sum(amount) AS charged FROM (${chargedByMonth(sql)}) AS part GROUP BY workspace_id, month) AS charge
    FULL JOIN workspace_months USING (workspace_id, month)`);
}

/** A key's total of a month is the sum of its charges in that month. */
function keyMonthsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('key %s, %s: charges of %s, a total of %s', key_id, month, coalesce(charged, 0), coalesce(spent_nano, 0)))
        FILTER (WHERE coalesce(charged, 0) <> coalesce(spent_nano, 0)) AS broken
    FROM (SELECT key_id, month, sum(amount) AS charged FROM (${chargedByMonth(sql)}) AS part GROUP BY key_id, month) AS charge
    FULL JOIN key_months USING (key_id, month)`);
}

/** Sums by workspace, key and month, of rows and of what retention keeps. */
function chargedByMonth(sql: Queries) {
  return sql`
    SELECT workspace_id, key_id, coalesce(month, to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM')) AS month, sum(cost_nano) AS amount
    FROM generations GROUP BY 1, 2, 3
    UNION ALL SELECT workspace_id, key_id, to_char(day, 'YYYY-MM'), sum(cost_nano) FROM generation_days GROUP BY 1, 2, 3`;
}

/**
 * What is rolled up, with what came late to it, equals the rows that it sums and what retention keeps of deleted ones, by workspace, key
 * and model. Readers take all later usage from the rows themselves.
 */
function usageAddsUp(sql: Queries): Promise<Finding> {
  const sums = sql`sum(requests) AS requests, sum(errors) AS errors, sum(prompt_tokens) AS prompt_tokens,
    sum(cached_tokens) AS cached_tokens, sum(completion_tokens) AS completion_tokens, sum(charge_nano) AS charge_nano`;
  const summed = sql`workspace_id, key_id, model, requests, errors, prompt_tokens, cached_tokens, completion_tokens, charge_nano`;
  const closed = sql`generation_id < coalesce((SELECT closed_before FROM usage_state), '')`;
  const side = (rows: ReturnType<typeof chargedByMonth>) =>
    sql`SELECT workspace_id, key_id, model, ${sums} FROM (${rows}) AS part GROUP BY 1, 2, 3 HAVING sum(requests) <> 0`;
  return only(sql<Finding[]>`
    SELECT coalesce(sum(generation.requests), 0)::bigint AS rows,
      min(format('workspace %s, key %s, model %s: %s generations of %s, usage of %s generations and %s', workspace_id, key_id, model,
        coalesce(generation.requests, 0), coalesce(generation.charge_nano, 0), coalesce(used.requests, 0), coalesce(used.charge_nano, 0)))
        FILTER (WHERE (generation.requests, generation.errors, generation.prompt_tokens, generation.cached_tokens,
          generation.completion_tokens, generation.charge_nano) IS DISTINCT FROM (used.requests, used.errors, used.prompt_tokens,
          used.cached_tokens, used.completion_tokens, used.charge_nano)) AS broken
    FROM (${side(sql`
      SELECT ${summed} FROM generation_usage WHERE ${closed}
      UNION ALL SELECT workspace_id, key_id, model, generations, failed, prompt_tokens, cached_tokens, completion_tokens, cost_nano
        FROM generation_days`)}) AS generation
    FULL JOIN (${side(sql`
      SELECT ${summed} FROM usage_sums JOIN usage_series ON id = series_id WHERE kind = 0 AND span = 1
      UNION ALL SELECT ${summed} FROM usage_late WHERE ${closed}`)}) AS used USING (workspace_id, key_id, model)`);
}

/** In each series, the sums of hours, six hours, days and eight days equal those of their quarters. */
function usageSpansAgree(sql: Queries): Promise<Finding> {
  const summed = (span: number) => sql`
    coalesce(sum(requests) FILTER (WHERE span = ${span} AND start < before), 0) AS ${sql(`requests_${span}`)},
    coalesce(sum(charge_nano) FILTER (WHERE span = ${span} AND start < before), 0) AS ${sql(`charge_${span}`)}`;
  const differs = (span: number) => sql`(requests_1, charge_1) <> (${sql(`requests_${span}`)}, ${sql(`charge_${span}`)})`;
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('series %s: %s requests of %s by quarters, %s of %s by hours, %s of %s by six hours, %s of %s by days, %s of %s by eight days',
        series_id, requests_1, charge_1, requests_4, charge_4, requests_24, charge_24, requests_96, charge_96, requests_768, charge_768))
        FILTER (WHERE ${differs(4)} OR ${differs(24)} OR ${differs(96)} OR ${differs(768)}) AS broken
    FROM (
      SELECT series_id, ${summed(1)}, ${summed(4)}, ${summed(24)}, ${summed(96)}, ${summed(768)}
      FROM usage_sums CROSS JOIN (SELECT max(summed_before) AS before FROM usage_state) AS state WHERE before IS NOT NULL GROUP BY series_id
    ) AS series`);
}

/** The sums by key, by model and in total equal those by everything, in each quarter of an hour of a workspace. */
function usageKindsAgree(sql: Queries): Promise<Finding> {
  const summed = (kind: number) => sql`
    coalesce(sum(requests) FILTER (WHERE kind = ${kind}), 0) AS ${sql(`requests_${kind}`)},
    coalesce(sum(charge_nano) FILTER (WHERE kind = ${kind}), 0) AS ${sql(`charge_${kind}`)}`;
  const differs = (kind: number) => sql`(requests_0, charge_0) <> (${sql(`requests_${kind}`)}, ${sql(`charge_${kind}`)})`;
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace number %s, quarter %s: %s requests of %s, %s of %s by keys, %s of %s by models, %s of %s in all', workspace, start,
        requests_0, charge_0, requests_1, charge_1, requests_2, charge_2, requests_3, charge_3))
        FILTER (WHERE ${differs(1)} OR ${differs(2)} OR ${differs(3)}) AS broken
    FROM (
      SELECT workspace, start, ${summed(0)}, ${summed(1)}, ${summed(2)}, ${summed(3)} FROM usage_sums WHERE span = 1 GROUP BY workspace, start
    ) AS quarter`);
}

/** The codes of errors add up to the errors, in each sum that has codes. */
function usageCountsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('series %s, %s quarters from %s on: %s errors, %s by codes', series_id, span, start, coalesce(errors, 0), coalesce(coded, 0)))
        FILTER (WHERE coalesce(errors, 0) <> coalesce(coded, 0)) AS broken
    FROM (SELECT workspace, kind, span, start, series_id, errors FROM usage_sums WHERE kind > 0 AND span IN (1, 24) AND errors <> 0) AS sums
    FULL JOIN (
      SELECT workspace, kind, span, start, series_id, sum(requests) AS coded FROM usage_counts WHERE name >= ':' GROUP BY 1, 2, 3, 4, 5
    ) AS counts USING (workspace, kind, span, start, series_id)`);
}

/** A charge plus its excess is the exact cost in pico-USD, rounded half up once. */
function costsAreRounded(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: %s pico-USD charged as %s nano-USD and an excess of %s', generation_id, cost_pico, cost_nano, excess_nano))
        FILTER (WHERE cost_nano::numeric + excess_nano <> least(div(cost_pico + 500, 1000), 9223372036854775807)) AS broken
    FROM generations`);
}

/** No charge exceeds its reservation, and a cost is charged in full unless the reservation or the balance was used up. */
function chargesAreWithin(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: %s of a reservation of %s charged, with an excess of %s', generation_id, cost_nano, reserved_nano, excess_nano))
        FILTER (WHERE cost_nano > reserved_nano
          OR (excess_nano > 0 AND cost_nano > 0 AND cost_nano < reserved_nano AND entry.balance_after_nano <> 0)) AS broken
    FROM generations AS charge
    LEFT JOIN ledger_entries AS entry
      ON excess_nano > 0 AND entry.workspace_id = charge.workspace_id AND entry.sequence = charge.entry`);
}

/** No charge leaves a balance below zero. */
function chargesLeaveNoDebt(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows, min(format('workspace %s, entry %s: a charge left a balance of %s', workspace_id, sequence, balance_after_nano))
      FILTER (WHERE amount_nano < 0 AND balance_after_nano < 0) AS broken
    FROM ledger_entries WHERE kind = 'charge'`);
}

/** A client that disconnected after the first token is charged for the prompt and the produced tokens. */
function disconnectIsCharged(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('generation %s: its client left after its first token, and is charged for %s and %s tokens', generation_id,
        prompt_tokens, completion_tokens)) FILTER (WHERE usage_estimated AND (prompt_tokens = 0 OR completion_tokens = 0)
          OR prompt_tokens + completion_tokens = 0) AS broken
    FROM generations
    WHERE status = 499 AND first_token_ms IS NOT NULL`);
}

/** Of the requests with one idempotency key at most one within a day is charged. */
function keysAreChargedOnce(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s: generations %s and %s have one idempotency key and are both charged', workspace_id, before, generation_id))
        FILTER (WHERE admitted_at - before_at < ${idempotencyMs}::bigint * interval '1 millisecond') AS broken
    FROM (
      SELECT workspace_id, generation_id, admitted_at, lag(generation_id) OVER repetition AS before, lag(admitted_at) OVER repetition AS before_at
      FROM generations WHERE claim IS NOT NULL AND cost_nano > 0
      WINDOW repetition AS (PARTITION BY workspace_id, claim ORDER BY admitted_at, generation_id)
    ) AS charge`);
}

/** A budget's total is the sum of the charges of its callers in its period. */
function budgetsAgree(sql: Queries): Promise<Finding> {
  return only(sql<Finding[]>`
    SELECT count(*) AS rows,
      min(format('workspace %s, budget %s from %s on: a total of %s where the charges sum up to %s', workspace_id, name, since, spent_nano, charged))
        FILTER (WHERE spent_nano <> charged) AS broken
    FROM (SELECT *, budget_spent(workspace_id, name, since) AS charged FROM budget_totals) AS total`);
}

/** Keyed by the names that `ledger verify` shows, in the order of the checks. */
export const invariants: Readonly<Record<string, (sql: Queries) => Promise<Finding>>> = {
  gapless_chain: chainIsGapless,
  running_balance: balanceRuns,
  account_is_chain_head: accountIsHead,
  overdraft_explained: overdraftIsExplained,
  entries_add_up: entriesAddUp,
  charges_sum_to_entries: sumsAgree,
  workspace_month_totals: workspaceMonthsAgree,
  key_month_totals: keyMonthsAgree,
  cost_rounded_half_up: costsAreRounded,
  charge_within_reservation: chargesAreWithin,
  charge_leaves_no_debt: chargesLeaveNoDebt,
  one_charge_a_key: keysAreChargedOnce,
  leaving_is_charged: disconnectIsCharged,
  usage_adds_up: usageAddsUp,
  usage_spans_agree: usageSpansAgree,
  usage_kinds_agree: usageKindsAgree,
  usage_counts_agree: usageCountsAgree,
  statement_matches_ledger: statementsMatch,
  budget_totals: budgetsAgree,
};

/**
 * A statement has not changed since it was hashed at closing. It continues where the previous one ended, in entries and balance; its
 * amounts are those of its entries; opening, credits, refunds and charges give its closing balance; and its lines add up to its charges. A
 * document is read as JSON only if its hash is right, since a changed one may not be JSON.
 */
async function statementsMatch(sql: Queries): Promise<Finding> {
  const [row] = await sql<Finding[]>`
    WITH stored AS (
      SELECT *, encode(sha256(convert_to(document, 'UTF8')), 'hex') = sha256 AS is_hashed,
        lag(to_sequence, 1, 0::bigint) OVER chain AS to_before, lag(closing_nano, 1, 0::bigint) OVER chain AS closing_before
      FROM usage_statements WINDOW chain AS (PARTITION BY workspace_id ORDER BY number)
    ), checked AS (
      SELECT workspace_id, number, CASE
        WHEN NOT is_hashed THEN 'its document has not the hash that it closed with'
        WHEN from_sequence <> to_before + 1 THEN format('it begins with entry %s, and the one before ends with entry %s', from_sequence, to_before)
        WHEN opening_nano <> closing_before THEN format('it opens with %s, and the one before closes with %s', opening_nano, closing_before)
        WHEN opening_nano + credits_nano - refunds_nano - charges_nano <> closing_nano
          THEN format('%s + %s - %s - %s is not %s', opening_nano, credits_nano, refunds_nano, charges_nano, closing_nano)
        WHEN (credits_nano, refunds_nano, charges_nano, closing_nano) IS DISTINCT FROM (entered.credits, entered.refunds, entered.charges, entered.closing)
          THEN format('it has credits of %s, refunds of %s, charges of %s and a balance of %s, its entries %s, %s, %s and %s', credits_nano,
            refunds_nano, charges_nano, closing_nano, entered.credits, entered.refunds, entered.charges, entered.closing)
        WHEN (document::jsonb->>'number', document::jsonb->'workspace'->>'id', document::jsonb->'ledger', ${nanoOf(sql, "opening_balance_usd")},
            ${nanoOf(sql, "charges_usd")}, ${nanoOf(sql, "closing_balance_usd")}, ${sumOf(sql, "credits", "usd")}, ${sumOf(sql, "refunds", "usd")})
          IS DISTINCT FROM (number::text, workspace_id, jsonb_build_object('from_seq', from_sequence, 'to_seq', to_sequence), opening_nano,
            charges_nano, closing_nano, credits_nano, refunds_nano)
          THEN 'its document has other amounts than its row'
        WHEN (${sumOf(sql, "lines", "cost_usd")}, ${sumOf(sql, "lines", "requests", 1)}) IS DISTINCT FROM (charges_nano, entered.requests)
          THEN format('its lines add up to %s of %s requests, its entries to %s of %s', ${sumOf(sql, "lines", "cost_usd")},
            ${sumOf(sql, "lines", "requests", 1)}, charges_nano, entered.requests)
        END AS problem
      FROM stored CROSS JOIN LATERAL (
        SELECT coalesce(sum(amount_nano) FILTER (WHERE kind <> 'charge' AND amount_nano >= 0), 0)::bigint AS credits,
          coalesce(-sum(amount_nano) FILTER (WHERE kind <> 'charge' AND amount_nano < 0), 0)::bigint AS refunds,
          coalesce(-sum(amount_nano) FILTER (WHERE kind = 'charge'), 0)::bigint AS charges,
          coalesce(sum(coalesce(charges, 1)) FILTER (WHERE kind = 'charge'), 0)::bigint AS requests,
          coalesce((
            SELECT balance_after_nano FROM ledger_entries AS last
            WHERE last.workspace_id = stored.workspace_id AND last.sequence = stored.to_sequence
          ), 0) AS closing
        FROM ledger_entries AS entry
        WHERE entry.workspace_id = stored.workspace_id AND sequence BETWEEN from_sequence AND to_sequence
      ) AS entered
    )
    SELECT count(*) AS rows, min(format('workspace %s, statement %s: %s', workspace_id, number, problem)) FILTER (WHERE problem IS NOT NULL) AS broken
    FROM checked`;
  return row ?? { rows: 0n, broken: null };
}

/** An amount of the document in nano-USD. */
function nanoOf(sql: Queries, field: string) {
  return sql`((document::jsonb->>${field})::numeric * 1000000000)::bigint`;
}

/** The sum of one field over a list in the document; amounts in nano-USD. */
function sumOf(sql: Queries, list: string, field: string, times = 1_000_000_000) {
  return sql`(SELECT coalesce(sum((part->>${field})::numeric * ${times}::bigint), 0)::bigint FROM jsonb_array_elements(document::jsonb->${list}) AS part)`;
}

/** The result of checking one invariant. */
interface Finding {
  rows: bigint;
  /** What breaks the invariant and where; null: it holds. */
  broken: string | null;
}
