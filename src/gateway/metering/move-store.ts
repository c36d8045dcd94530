/**
 * All SQL of the move into `generations`: charges and log rows of the version before, which wrote them into two tables. The newest
 * move first, each batch in one transaction with the place that it reached, so that a move which was killed goes on there.
 */
import { type Database, type Queries, type Transaction, allowLocks, allowStatements } from "../../backing/backing.ts";
import { moveLockMs, moveStatementMsMax } from "../limits.ts";

export interface MoveState {
  moved: number;
  /** null: not counted yet. */
  total: number | null;
  /** Every row is in `generations`, and the older tables may be dropped. */
  isMoved: boolean;
}

interface MoveRow {
  moved: bigint;
  total: bigint | null;
  movedTo: string | null;
  isMoved: boolean;
}

/** null: there is nothing to move, or the move was finished. */
export async function selectMove(sql: Queries): Promise<MoveState | null> {
  const row = await selectRow(sql);
  return row && stateOf(row);
}

async function selectRow(sql: Queries): Promise<MoveRow | null> {
  const [row] = await sql<MoveRow[]>`
    SELECT moved, total, moved_to AS "movedTo", moved_at IS NOT NULL AS "isMoved" FROM generations_move`;
  return row ?? null;
}

function stateOf({ moved, total, isMoved }: MoveRow): MoveState {
  return { moved: Number(moved), total: total === null ? null : Number(total), isMoved };
}

/**
 * Moves one batch, unless another process moves one at present.
 * @param batchMax the number of charges in it
 * @returns the state after it; null: there is nothing to move
 */
export function moveBatch(batchMax: number, sql: Database): Promise<MoveState | null> {
  return sql.begin(async (tx) => {
    await allowStatements(moveStatementMsMax, tx);
    const [lock] = await tx<{ taken: boolean }[]>`SELECT pg_try_advisory_xact_lock(hashtext('generations move')) AS taken`;
    const before = await selectRow(tx);
    if (before === null || before.isMoved || !lock?.taken) return before && stateOf(before);
    return stateOf(await moveNext({ before, batchMax }, tx));
  }) as Promise<MoveState | null>;
}

async function moveNext({ before, batchMax }: { before: MoveRow; batchMax: number }, tx: Transaction): Promise<MoveRow> {
  if (before.total === null) {
    const [row] = await tx<
      { total: bigint }[]
    >`UPDATE generations_move SET total = (SELECT count(*) FROM charges) RETURNING total`;
    return { ...before, total: row?.total ?? 0n };
  }
  const upTo = before.movedTo === null ? tx`true` : tx`charges.generation_id < ${before.movedTo}`;
  const [last] = await tx<{ generation: string }[]>`
    SELECT generation_id AS generation FROM charges WHERE ${upTo} ORDER BY generation_id DESC OFFSET ${batchMax - 1} LIMIT 1`;
  const part = last === undefined ? upTo : tx`${upTo} AND charges.generation_id >= ${last.generation}`;
  await makeMonths(part, tx);
  const moved = await copy(part, tx);
  const isMoved = last === undefined;
  await tx`
    UPDATE generations_move SET moved = moved + ${moved}, moved_to = ${last?.generation ?? before.movedTo},
      moved_at = CASE WHEN ${isMoved} THEN now() END`;
  return { ...before, moved: before.moved + BigInt(moved), isMoved };
}

type Condition = ReturnType<typeof fragment>;

function fragment(sql: Queries) {
  return sql``;
}

/** The months of all ids, by the first and the last of each nine hours: four digits of their time. */
async function makeMonths(part: Condition, tx: Transaction): Promise<void> {
  await tx`
    SELECT make_generations_month(month) FROM (
      SELECT DISTINCT to_char(generation_time(id) AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM (
        SELECT min(generation_id) AS first, max(generation_id) AS last FROM charges WHERE ${part} GROUP BY substr(generation_id, 1, 8)
      ) AS span CROSS JOIN LATERAL (VALUES (first), (last)) AS bound (id)
    ) AS needed`;
}

/**
 * Copies a range of charges with their log rows and entries; what a later settlement wrote already stays. An entry has the time of its
 * charge's transaction, which bounds the entries to look at. Each log row is found by its index, since a join reads the whole log for
 * each batch. Partitions of the log could be dropped: without its log row a charge is copied with a status of 0 and without tokens.
 * @returns how many charges the range has
 */
async function copy(part: Condition, tx: Transaction): Promise<number> {
  const [row] = await tx<{ moved: bigint }[]>`
    WITH charge AS MATERIALIZED (SELECT * FROM charges WHERE ${part}),
    entry AS MATERIALIZED (
      SELECT workspace_id, sequence, reference FROM ledger_entries
      WHERE kind = 'charge' AND reference IS NOT NULL AND at BETWEEN (SELECT min(at) FROM charge) AND (SELECT max(at) FROM charge)
    ), copied AS (
      INSERT INTO generations (generation_id, entry, reserved_nano, cost_nano, excess_nano, admitted_at, prompt_tokens, cached_tokens,
        completion_tokens, first_token_ms, duration_ms, status, late, streamed, usage_estimated, cost_pico, outcome, request_id,
        workspace_id, key_id, model, provider, code, booked_at, month)
      SELECT charge.generation_id, entry.sequence, charge.reserved_nano, charge.cost_nano, excess_nano, admitted_at,
        coalesce(least(prompt_tokens, 2147483647), 0), coalesce(least(cached_tokens, 2147483647), 0),
        coalesce(least(completion_tokens, 2147483647), 0), first_token_ms, coalesce(duration_ms, 0), coalesce(status, 0), late,
        coalesce(streamed, false), coalesce(usage_estimated, false), cost_pico, outcome, coalesce(request_id, 'unknown'),
        charge.workspace_id, charge.key_id, coalesce(model, 'unknown'), coalesce(provider, 'unknown'), code,
        CASE WHEN entry.sequence IS NULL THEN charge.at END, nullif(charge.month, to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM'))
      FROM charge
      LEFT JOIN LATERAL (
        SELECT * FROM request_log AS of_charge
        WHERE of_charge.workspace_id = charge.workspace_id AND of_charge.generation_id = charge.generation_id LIMIT 1
      ) AS log ON true
      CROSS JOIN LATERAL (SELECT coalesce(log.at, generation_time(charge.generation_id)) AS admitted_at) AS admission
      LEFT JOIN entry ON entry.reference = charge.generation_id AND entry.workspace_id = charge.workspace_id
      ORDER BY charge.generation_id
      ON CONFLICT DO NOTHING
    )
    SELECT count(*) AS moved FROM charge`;
  return Number(row?.moved ?? 0);
}

/** Drops the older tables, and what copies from them. @throws when they are in use for longer than a short wait: try again */
export async function dropFormerTables(sql: Database): Promise<void> {
  await sql.begin(async (tx) => {
    await allowLocks(moveLockMs, tx);
    await tx`LOCK TABLE charges, request_log IN ACCESS EXCLUSIVE MODE`;
    await tx`DROP FUNCTION outcomes_of(text[])`;
    await tx`ALTER FUNCTION outcomes_of_moved(text[]) RENAME TO outcomes_of`;
    await tx`DROP TABLE charges, request_log`;
    await tx`DROP FUNCTION copy_charges, copy_deletions`;
    await tx`DELETE FROM generations_move`;
  });
}
