/** The invariant of stored statements, one SQL statement. */
import type { Queries } from "../../backing/backing.ts";
import type { Finding } from "./finding.ts";

/**
 * A statement is what was hashed when it closed. It goes on where the one before ended, in entries and balance; its amounts are those of
 * its entries; opening, credits, refunds and charges give its closing balance; and its lines add up to its charges. A document is read
 * as JSON only if its hash is right, since a changed one may be no JSON.
 */
export async function statementsMatch(sql: Queries): Promise<Finding> {
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

/** The sum of one field of a list of the document; amounts in nano-USD. */
function sumOf(sql: Queries, list: string, field: string, times = 1_000_000_000) {
  return sql`(SELECT coalesce(sum((part->>${field})::numeric * ${times}::bigint), 0)::bigint FROM jsonb_array_elements(document::jsonb->${list}) AS part)`;
}
