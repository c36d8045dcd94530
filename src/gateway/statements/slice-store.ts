/**
 * All SQL of the ledger for a statement: where its slice of the chain ends, and the sums of that slice, in one snapshot. A slice goes from
 * the entry after the last statement to the last entry that was written in the month or holds a charge of its last 25 minutes. So each
 * entry is in exactly one statement.
 */
import type { Transaction } from "../../backing/backing.ts";
import { monthBounds, previousMonth, type Month } from "../../kernel/clock.ts";
import { firstGenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
import type { NanoUsd } from "../../kernel/money.ts";
import { logSkewMs, statementWaitMs, usageWorkMemoryBytes } from "../limits.ts";

/** Entries of a workspace's chain, which belong to a month. */
export interface Slice {
  workspace: WorkspaceId;
  month: Month;
  from: bigint;
  /** One less than `from`: there are none. */
  to: bigint;
}

/** When the chain's first entry was written; null: it has none. */
export async function selectFirstEntry(workspace: WorkspaceId, tx: Transaction): Promise<Date | null> {
  const [row] = await tx<{ at: Date }[]>`SELECT at FROM ledger_entries WHERE workspace_id = ${workspace} AND sequence = 1`;
  return row?.at ?? null;
}

export async function selectHead(workspace: WorkspaceId, tx: Transaction): Promise<bigint> {
  const [row] = await tx<{ sequence: bigint }[]>`SELECT sequence FROM credit_accounts WHERE workspace_id = ${workspace}`;
  return row?.sequence ?? 0n;
}

/**
 * The last entry that was written in the month, or that holds a charge of its last minutes: requests at its end are settled after it.
 * Charges that come later are the next statement's.
 */
export async function selectSliceEnd({ workspace, month, from }: Omit<Slice, "to">, tx: Transaction): Promise<bigint> {
  const { endMs } = monthBounds(month);
  const [row] = await tx<{ end: bigint }[]>`
    WITH written AS MATERIALIZED (
      SELECT coalesce((
        SELECT sequence FROM ledger_entries
        WHERE workspace_id = ${workspace} AND sequence >= ${from} AND at < ${new Date(endMs)} ORDER BY sequence DESC LIMIT 1
      ), ${from}::bigint - 1) AS sequence
    )
    SELECT greatest(sequence, (
      SELECT max(entry) FROM generations
      WHERE ${ofWorkspace(workspace, tx)} AND entry > written.sequence AND ${ofMonth(month, tx)}
        AND generation_id >= ${firstGenerationId(endMs - statementWaitMs)} AND generation_id < ${firstGenerationId(endMs + logSkewMs)}
    )) AS end FROM written`;
  return row?.end ?? from - 1n;
}

/** The balance after an entry; 0 before the first. */
export async function selectSliceBalance(workspace: WorkspaceId, sequence: bigint, tx: Transaction): Promise<NanoUsd> {
  const [row] = await tx<{ balance: NanoUsd }[]>`
    SELECT balance_after_nano AS balance FROM ledger_entries WHERE workspace_id = ${workspace} AND sequence = ${sequence}`;
  return row?.balance ?? 0n;
}

export interface SliceSums {
  credits: NanoUsd;
  refunds: NanoUsd;
  charges: NanoUsd;
  /** Requests whose charges the entries hold. */
  requests: bigint;
  /** The time of the newest entry; null: there are none. */
  lastAt: Date | null;
}

/** An entry that is not a charge is a credit or a refund, by its sign. */
export async function selectSliceSums(slice: Slice, tx: Transaction): Promise<SliceSums> {
  const [row] = await tx<SliceSums[]>`
    SELECT coalesce(sum(amount_nano) FILTER (WHERE kind <> 'charge' AND amount_nano >= 0), 0)::bigint AS credits,
      coalesce(-sum(amount_nano) FILTER (WHERE kind <> 'charge' AND amount_nano < 0), 0)::bigint AS refunds,
      coalesce(-sum(amount_nano) FILTER (WHERE kind = 'charge'), 0)::bigint AS charges,
      coalesce(sum(coalesce(charges, 1)) FILTER (WHERE kind = 'charge'), 0)::bigint AS requests, max(at) AS "lastAt"
    FROM ledger_entries WHERE ${ofSlice(slice, tx)}`;
  return row ?? { credits: 0n, refunds: 0n, charges: 0n, requests: 0n, lastAt: null };
}

interface MovementRow {
  at: Date;
  kind: string;
  reference: string | null;
  amount: NanoUsd;
}

/** Credits, or entries that took credit without a charge; oldest first. */
export async function selectMovements(
  slice: Slice,
  { areCredits, limit }: { areCredits: boolean; limit: number },
  tx: Transaction,
): Promise<MovementRow[]> {
  return tx<MovementRow[]>`
    SELECT at, kind, reference, abs(amount_nano) AS amount FROM ledger_entries
    WHERE ${ofSlice(slice, tx)} AND kind <> 'charge' AND (amount_nano >= 0) = ${areCredits} ORDER BY sequence LIMIT ${limit}`;
}

/** Names are null in the rest. */
export interface LineRow {
  key: KeyId | null;
  model: string | null;
  provider: string | null;
  endpoint: string | null;
  tierAboveTokens: number | null;
  requests: bigint;
  promptTokens: bigint;
  cachedTokens: bigint;
  cacheWriteTokens: bigint;
  completionTokens: bigint;
  cost: NanoUsd;
  /** The parts of the cost that were accepted before the month, and after it. */
  ofPrevious: NanoUsd;
  ofNext: NanoUsd;
}

interface LinesAsked {
  slice: Slice;
  /** Only requests of these; null: of all. */
  keys: KeyId[] | null;
  /** Reads only generations that began in the month, the one before, or until this time; null: all, which takes longer. */
  untilMs: number | null;
  linesMax: number;
}

/**
 * Holds for the transaction: it has few groups for the rows that it sums, and hashing finds them in a third of the time of sorting. A hash
 * table that does not fit into memory spills to disk.
 */
export async function preferHashes(tx: Transaction): Promise<void> {
  await tx`
    SELECT set_config('jit', 'off', true), set_config('enable_sort', 'off', true), set_config('work_mem', ${`${usageWorkMemoryBytes / 1024}kB`}, true)`;
}

/** The charges of the slice's entries, the most expensive first, and one line with the sum of those beyond the maximum. */
export async function selectLines({ slice, keys, untilMs, linesMax }: LinesAsked, tx: Transaction): Promise<LineRow[]> {
  const { workspace, month, from, to } = slice;
  const { startMs, endMs } = monthBounds(month);
  const oldest = firstGenerationId(Math.max(0, monthBounds(previousMonth(month)).startMs - logSkewMs));
  const range =
    untilMs === null
      ? tx``
      : tx`AND generation_id >= ${oldest} AND generation_id < ${firstGenerationId(Math.max(endMs, untilMs) + logSkewMs)}`;
  return tx<LineRow[]>`
    WITH line AS MATERIALIZED (
      SELECT key_id, model, provider, coalesce(endpoint, 'chat') AS endpoint, tier_above_tokens, count(*) AS requests,
        whole_sum(prompt_tokens) AS prompt_tokens, whole_sum(cached_tokens) AS cached_tokens,
        whole_sum(cache_write_tokens) AS cache_write_tokens, whole_sum(completion_tokens) AS completion_tokens, whole_sum(cost_nano) AS cost,
        whole_sum(cost_nano) FILTER (WHERE CASE WHEN month IS NULL THEN admitted_at < ${new Date(startMs)} ELSE month < ${month} END)
          AS of_previous,
        whole_sum(cost_nano) FILTER (WHERE CASE WHEN month IS NULL THEN admitted_at >= ${new Date(endMs)} ELSE month > ${month} END)
          AS of_next
      FROM generations
      WHERE ${ofWorkspace(workspace, tx)} AND entry BETWEEN ${from} AND ${to} ${range}
        ${keys === null ? tx`` : tx`AND key_id = ANY(${keys}::text[])`}
      GROUP BY 1, 2, 3, 4, 5
    ), placed AS (
      SELECT *, row_number() OVER (ORDER BY cost DESC, requests DESC, key_id, model, provider, endpoint, tier_above_tokens) AS place FROM line
    ), shown AS (
      SELECT * FROM placed WHERE place <= ${linesMax}
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, NULL, whole_sum(requests), whole_sum(prompt_tokens), whole_sum(cached_tokens),
        whole_sum(cache_write_tokens), whole_sum(completion_tokens), whole_sum(cost), whole_sum(of_previous), whole_sum(of_next),
        ${linesMax}::bigint + 1
      FROM placed WHERE place > ${linesMax} HAVING count(*) > 0
    )
    SELECT key_id AS key, model, provider, endpoint, tier_above_tokens AS "tierAboveTokens", requests, prompt_tokens AS "promptTokens",
      cached_tokens AS "cachedTokens", cache_write_tokens AS "cacheWriteTokens", completion_tokens AS "completionTokens", cost,
      of_previous AS "ofPrevious", of_next AS "ofNext"
    FROM shown ORDER BY place`;
}

/** Entries up to this one may have charges whose rows retention has deleted; 0: none has. */
export async function selectRetainedTo(workspace: WorkspaceId, tx: Transaction): Promise<bigint> {
  const [row] = await tx<{ sequence: bigint }[]>`SELECT sequence FROM retained_entries WHERE workspace_id = ${workspace}`;
  return row?.sequence ?? 0n;
}

interface OwnKeyUseRow {
  provider: string;
  model: string;
  requests: bigint;
  listCost: NanoUsd;
}

/** The month's requests that own keys have served so far. */
export async function selectOwnKeyUse({ workspace, month }: Slice, tx: Transaction): Promise<OwnKeyUseRow[]> {
  const { startMs, endMs } = monthBounds(month);
  return tx<OwnKeyUseRow[]>`
    SELECT provider, model, count(*) AS requests, whole_sum(list_cost_nano) AS "listCost" FROM generations
    WHERE ${ofWorkspace(workspace, tx)} AND own_key_id IS NOT NULL AND ${ofMonth(month, tx)}
      AND generation_id >= ${firstGenerationId(Math.max(0, startMs - logSkewMs))} AND generation_id < ${firstGenerationId(endMs + logSkewMs)}
    GROUP BY provider, model ORDER BY 4 DESC, 3 DESC, 1, 2`;
}

/** The index has a hash of the id. */
function ofWorkspace(workspace: WorkspaceId, tx: Transaction) {
  return tx`hashtext(workspace_id) = hashtext(${workspace}) AND workspace_id = ${workspace}`;
}

function ofMonth(month: Month, tx: Transaction) {
  const { startMs, endMs } = monthBounds(month);
  return tx`CASE WHEN month IS NULL THEN admitted_at >= ${new Date(startMs)} AND admitted_at < ${new Date(endMs)} ELSE month = ${month} END`;
}

function ofSlice({ workspace, from, to }: Slice, tx: Transaction) {
  return tx`workspace_id = ${workspace} AND sequence BETWEEN ${from} AND ${to}`;
}
