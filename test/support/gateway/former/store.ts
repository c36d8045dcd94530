/**
 * Settlement as the version before `generations` did it, with three rows a charge, for tests of the move from its tables.
 * All SQL of settlement. The accounts are locked first, in the order of their ids, so that no other transaction changes their
 * workspaces' rows. Statements that do not need each other's results are sent together.
 */
import { arrayText } from "../../../../src/backing/sql-text.ts";
import type { Database, Transaction } from "../../../../src/backing/backing.ts";
import type { AccountPush, KeyMonthPush } from "../../../../src/backing/counters.ts";
import { bookingOf, type Books, type AccountHead, type KeyMonthSum, type MonthSum, type Row } from "./booking.ts";
import type { Charge } from "../../../../src/gateway/metering/booking.ts";
import type { Booked, SettlementStore } from "../../../../src/gateway/metering/settle.ts";

export function formerStore(sql: Database): SettlementStore {
  return { settle: (charges) => sql.begin((tx) => settleIn(tx, charges)) as Promise<Booked> };
}

async function settleIn(tx: Transaction, charges: Charge[]): Promise<Booked> {
  const { rows, refused, heads, ...sums } = bookingOf(charges, await readBooks(tx, charges));
  const late = rows.filter((row) => row.late);
  if (late.length > 0) await removeUncharged(tx, late);
  const [months, keyMonths] = await Promise.all([
    addToMonths(tx, sums.months),
    addToKeyMonths(tx, sums.keyMonths),
    writeRows(tx, rows),
    moveHeads(tx, heads),
  ]);
  const sequences = new Map(heads.map(({ workspace, sequence }) => [workspace, sequence]));
  return {
    fresh: new Map(rows.map(({ settlement, cost, excess }) => [settlement.generation, { cost, excess }])),
    refused,
    late: generationsOf(late),
    accounts: heads.map((head) => ({ ...head, months: months.get(head.workspace) ?? [] })),
    keyMonths: keyMonths.map((total) => ({ ...total, sequence: sequences.get(total.workspace) ?? 0n })),
  };
}

function generationsOf(rows: Row[]): Booked["late"] {
  return new Set(rows.map(({ settlement }) => settlement.generation));
}

/** The second statement sees the commits of transactions that held the locks before. */
async function readBooks(tx: Transaction, charges: Charge[]): Promise<Books> {
  const workspaces = [...new Set(charges.map(({ settlement }) => settlement.workspace))];
  const [heads, booked] = await Promise.all([
    tx<AccountHead[]>`
      SELECT workspace_id AS workspace, balance_nano AS balance, sequence
      FROM unnest(${arrayText(workspaces, (id) => id)}::text[]) AS named (id) JOIN credit_accounts ON workspace_id = named.id
      ORDER BY workspace_id FOR UPDATE OF credit_accounts`,
    tx<{ generation: string; outcome: Row["settlement"]["outcome"] }[]>`
      SELECT generation_id AS generation, outcome FROM charges
      WHERE generation_id = ANY(${arrayText(charges, ({ settlement }) => settlement.generation)}::text[])`,
  ]);
  return { heads, outcomes: new Map(booked.map(({ generation, outcome }) => [generation, outcome])) };
}

/** Removes rows that were booked without a charge, as unknown or expired: the true rows replace them. */
async function removeUncharged(tx: Transaction, rows: Row[]): Promise<void> {
  await tx`
    WITH given_up AS (
      DELETE FROM charges WHERE generation_id = ANY(${arrayText(rows, ({ settlement }) => settlement.generation)}::text[])
      RETURNING workspace_id, generation_id
    )
    DELETE FROM request_log USING given_up
    WHERE request_log.workspace_id = given_up.workspace_id AND request_log.generation_id = given_up.generation_id`;
}

/** Writes charge, entry and log row of each settlement from one set of parameters. */
async function writeRows(tx: Transaction, rows: Row[]): Promise<void> {
  if (rows.length === 0) return;
  const facts = (read: (settlement: Row["settlement"]) => string | number | boolean | null) =>
    arrayText(rows, ({ settlement }) => read(settlement));
  await tx`
    WITH row AS MATERIALIZED (
      SELECT *, to_timestamp(admitted_ms / 1000.0::float8) AS admitted_at FROM unnest(
        ${facts((event) => event.generation)}::text[], ${facts((event) => event.request)}::text[],
        ${facts((event) => event.workspace)}::text[], ${facts((event) => event.key)}::text[], ${facts((event) => event.month)}::text[],
        ${facts((event) => event.outcome)}::text[], ${facts((event) => event.reserved)}::bigint[],
        ${arrayText(rows, ({ cost }) => cost)}::bigint[], ${arrayText(rows, ({ costPico }) => costPico)}::numeric[],
        ${arrayText(rows, ({ excess }) => excess)}::bigint[], ${arrayText(rows, ({ late }) => late)}::boolean[], ${arrayText(rows, ({ sequence }) => sequence)}::bigint[],
        ${arrayText(rows, ({ balanceAfter }) => balanceAfter)}::bigint[], ${facts((event) => event.admittedAt)}::bigint[],
        ${facts((event) => event.model)}::text[], ${facts((event) => event.provider)}::text[],
        ${facts((event) => event.status)}::smallint[], ${facts((event) => event.code)}::text[],
        ${facts((event) => event.streamed)}::boolean[], ${facts((event) => event.usage.promptTokens)}::bigint[],
        ${facts((event) => event.usage.cachedTokens)}::bigint[], ${facts((event) => event.usage.completionTokens)}::bigint[],
        ${facts((event) => event.usageEstimated)}::boolean[], ${facts((event) => event.firstTokenMs)}::integer[],
        ${facts((event) => event.durationMs)}::integer[]
      ) AS row (generation, request, workspace, key, month, outcome, reserved, cost, cost_pico, excess, late, sequence,
        balance_after, admitted_ms, model, provider, status, code, streamed, prompt_tokens, cached_tokens, completion_tokens, usage_estimated,
        first_token_ms, duration_ms)
    ), charged AS (
      INSERT INTO charges (generation_id, workspace_id, key_id, month, outcome, reserved_nano, cost_nano, cost_pico,
        excess_nano, late)
      SELECT generation, workspace, key, month, outcome, reserved, cost, cost_pico, excess, late FROM row
    ), entered AS (
      INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference)
      SELECT workspace, sequence, 'charge', -cost, balance_after, generation FROM row WHERE sequence IS NOT NULL
    )
    INSERT INTO request_log (generation_id, at, request_id, workspace_id, key_id, model, provider, status, code, streamed,
      prompt_tokens, cached_tokens, completion_tokens, reserved_nano, cost_nano, usage_estimated, first_token_ms, duration_ms)
    SELECT generation, admitted_at, request, workspace, key, model, provider, status, code, streamed,
      prompt_tokens, cached_tokens, completion_tokens, reserved, cost, usage_estimated, first_token_ms, duration_ms
    FROM row`;
}

async function moveHeads(tx: Transaction, heads: AccountHead[]): Promise<void> {
  if (heads.length === 0) return;
  await tx`
    UPDATE credit_accounts SET balance_nano = head.balance, sequence = head.sequence FROM unnest(
      ${arrayText(heads, ({ workspace }) => workspace)}::text[], ${arrayText(heads, ({ balance }) => balance)}::bigint[],
      ${arrayText(heads, ({ sequence }) => sequence)}::bigint[]) AS head (workspace, balance, sequence)
    WHERE credit_accounts.workspace_id = head.workspace AND credit_accounts.sequence <> head.sequence`;
}

/** @returns the totals after the update, by workspace */
async function addToMonths(tx: Transaction, sums: MonthSum[]): Promise<Map<string, AccountPush["months"]>> {
  const totals = new Map<string, AccountPush["months"]>();
  if (sums.length === 0) return totals;
  const rows = await tx<MonthSum[]>`
    INSERT INTO workspace_months (workspace_id, month, spent_nano)
    SELECT * FROM unnest(
      ${arrayText(sums, ({ workspace }) => workspace)}::text[], ${arrayText(sums, ({ month }) => month)}::text[],
      ${arrayText(sums, ({ spent }) => spent)}::bigint[])
    ON CONFLICT (workspace_id, month) DO UPDATE SET spent_nano = workspace_months.spent_nano + excluded.spent_nano
    RETURNING workspace_id AS workspace, month, spent_nano AS spent`;
  for (const { workspace, month, spent } of rows) {
    const months = totals.get(workspace) ?? [];
    months.push({ month, spent });
    totals.set(workspace, months);
  }
  return totals;
}

/** @returns the totals after the update */
async function addToKeyMonths(tx: Transaction, sums: KeyMonthSum[]): Promise<Omit<KeyMonthPush, "sequence">[]> {
  if (sums.length === 0) return [];
  const rows = await tx<Omit<KeyMonthPush, "sequence" | "workspace">[]>`
    INSERT INTO key_months (key_id, month, spent_nano, version, last_used_at)
    SELECT key, month, spent, (spent > 0)::integer, to_timestamp(used_ms / 1000.0::float8) FROM unnest(
      ${arrayText(sums, ({ key }) => key)}::text[], ${arrayText(sums, ({ month }) => month)}::text[],
      ${arrayText(sums, ({ spent }) => spent)}::bigint[], ${arrayText(sums, ({ usedAt }) => usedAt)}::bigint[]
    ) AS sum (key, month, spent, used_ms)
    ON CONFLICT (key_id, month) DO UPDATE SET
      spent_nano = key_months.spent_nano + excluded.spent_nano, version = key_months.version + excluded.version,
      last_used_at = greatest(key_months.last_used_at, excluded.last_used_at)
    RETURNING key_id AS key, month, spent_nano AS spent, version`;
  const workspaces = new Map(sums.map(({ workspace, key }) => [key, workspace]));
  return rows.map((row) => ({ workspace: workspaces.get(row.key) ?? "", ...row }));
}
