/**
 * All SQL of the ledger's heads and entries, of epochs, and of budgets' totals. A chain is advanced only under the lock of its head, so
 * entries have no gaps. What counters load is read by one statement, thus from one snapshot. A version is the epoch of the workspace's
 * ledger, then a number within it. A database that went back in time reuses its old numbers in a later epoch, so counters accept its values
 * and refuse late messages from earlier ones.
 */
import type { Queries, Transaction, Database } from "../../backing/backing.ts";
import type { BudgetHold, BudgetPush } from "../../backing/counters.ts";
import { arrayText } from "../../backing/sql-text.ts";
import type { Month } from "../../kernel/clock.ts";
import { firstGenerationId, type GenerationId, type KeyId, type WorkspaceId } from "../../kernel/ids.ts";
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

/** The effect of an entry without charges. Credit and returned amounts are positive, amounts taken back negative. */
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

interface NewEntry extends LedgerHead {
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

interface AccountRow extends LedgerHead {
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

/** One statement, and so one snapshot; undefined: there is no such workspace. */
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

// Claims

/** A generation that left something, and by which a repetition of its request is recognised. */
export interface SpentClaim {
  claim: string;
  generation: GenerationId;
  body: string;
  /** Milliseconds, the counters' clock. */
  admittedAt: number;
}

/**
 * Those of generations that were admitted after `since` and before `until`, the oldest first.
 * @param skewMs how far the time in an id may be from the admission: older months are not read
 */
export async function selectClaims(
  { claims, since, until, skewMs }: { claims: readonly string[]; since: number; until?: number; skewMs: number },
  sql: Queries,
): Promise<SpentClaim[]> {
  const rows = await sql<(Omit<SpentClaim, "admittedAt"> & { at: Date })[]>`
    SELECT claim, generation_id AS generation, claim_body AS body, admitted_at AS at FROM generations
    WHERE claim = ANY(${arrayText(claims, (claim) => claim)}::text[]) AND claim IS NOT NULL
      AND generation_id >= ${firstGenerationId(Math.max(0, since - skewMs))}
      AND admitted_at > ${new Date(since)} ${until === undefined ? sql`` : sql`AND admitted_at < ${new Date(until)}`}
    ORDER BY admitted_at, generation_id`;
  return rows.map(({ at, ...row }) => ({ ...row, admittedAt: at.getTime() }));
}

// Epochs

interface AskedPosition {
  workspace: WorkspaceId;
  /** The epoch and sequence that counters have. */
  epoch: bigint;
  number: bigint;
}

interface PositionRow {
  workspace: WorkspaceId;
  epoch: bigint;
  sequence: bigint;
  balanceThen: NanoUsd | null;
  comparedOn: "this server" | "other" | "none";
  isRebuilding: boolean;
  isReplayed: boolean;
}

/** Unknown workspaces are absent. A ledger without entries has a balance of zero. */
export function selectPositions(asked: readonly AskedPosition[], sql: Queries): Promise<PositionRow[]> {
  return sql<PositionRow[]>`
    SELECT workspace_id AS workspace, account.epoch, account.sequence, is_rebuilding AS "isRebuilding",
      EXISTS (SELECT FROM ledger_replays AS replay WHERE replay.server = ledger_server()) AS "isReplayed",
      CASE account.server WHEN 0 THEN 'none' WHEN ledger_server() THEN 'this server' ELSE 'other' END AS "comparedOn",
      CASE
        WHEN asked.epoch <> account.epoch THEN NULL
        WHEN asked.number = 0 THEN 0::bigint
        ELSE (SELECT balance_after_nano FROM ledger_entries AS entry
          WHERE entry.workspace_id = account.workspace_id AND entry.sequence = asked.number)
      END AS "balanceThen"
    FROM unnest(
      ${arrayText(asked, ({ workspace }) => workspace)}::text[], ${arrayText(asked, ({ epoch }) => epoch)}::bigint[],
      ${arrayText(asked, ({ number }) => number)}::bigint[]) AS asked (workspace, epoch, number)
    JOIN credit_accounts AS account ON account.workspace_id = asked.workspace`;
}

/** The number of the server that answers. */
export async function selectServer(sql: Queries): Promise<bigint> {
  const [row] = await sql<{ server: bigint }[]>`SELECT ledger_server() AS server`;
  return row?.server ?? 0n;
}

export interface EpochStart {
  workspace: WorkspaceId;
  /** The epoch that was read: if another process began one meanwhile, nothing happens. */
  after: bigint;
  /** The epoch that begins; the same one where the workspace is only bound to this server. */
  epoch: bigint;
  /** Whether settlements must be booked again before counters are loaded. */
  isRebuilding: boolean;
}

/** Begins epochs. Settlements wait meanwhile, and versions that were read before are older. @returns the workspaces whose epoch began */
export async function beginEpochs(starts: readonly EpochStart[], sql: Queries): Promise<ReadonlySet<WorkspaceId>> {
  const rows = await sql<{ workspace: WorkspaceId }[]>`
    WITH start AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayText(starts, ({ workspace }) => workspace)}::text[], ${arrayText(starts, ({ after }) => after)}::bigint[],
        ${arrayText(starts, ({ epoch }) => epoch)}::bigint[], ${arrayText(starts, (start) => start.isRebuilding)}::boolean[]
      ) AS start (workspace, after, epoch, rebuilding)
    ), locked AS MATERIALIZED (
      SELECT workspace_id FROM start JOIN credit_accounts ON workspace_id = workspace ORDER BY workspace_id
      FOR NO KEY UPDATE OF credit_accounts
    )
    UPDATE credit_accounts AS account
    SET epoch = start.epoch, server = ledger_server(), is_rebuilding = is_rebuilding OR rebuilding
    FROM start JOIN locked ON locked.workspace_id = start.workspace
    WHERE account.workspace_id = start.workspace AND account.epoch = start.after
    RETURNING account.workspace_id AS workspace`;
  return new Set(rows.map(({ workspace }) => workspace));
}

// Totals of budgets. A total changes only with the head of its workspace's ledger, whose sequence is its version.

interface WantedTotals {
  workspace: WorkspaceId;
  totals: readonly BudgetHold[];
}

/** A total whose period ended longer ago than this is deleted when a later one is opened. In milliseconds. */
const keptMs = { day: 2 * 86_400_000, month: 62 * 86_400_000 };

/**
 * The totals of these periods. Totals that the ledger does not keep yet are summed from the charges, and settlement then adds to them.
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

/** What the callers of budgets were charged, with the beginnings of the periods in which it counts. */
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

/** While the account is locked, no settlement changes the sum of the charges. */
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

// Versions

/**
 * Counters keep versions as doubles, exact up to 2^53: twenty entries a second fill an epoch in thirteen years, and there are a million
 * epochs.
 */
const numbersPerEpoch = 2n ** 33n;

interface Numbered {
  epoch: bigint;
  /** The sequence of the ledger, or the version of a key's month. */
  number: bigint;
}

export function ledgerVersion({ epoch, number }: Numbered): bigint {
  return epoch * numbersPerEpoch + number;
}

/** @param version what counters have; zero or more */
export function versionParts(version: bigint): Numbered {
  return { epoch: version / numbersPerEpoch, number: version % numbersPerEpoch };
}
