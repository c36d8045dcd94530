/**
 * All SQL of settlement, in one transaction. The accounts are locked first, in the order of their ids, so that no other transaction changes
 * their workspaces' rows and none deadlocks. Statements that do not need each other's results are sent together, and a statement carries
 * the rows of all charges. What the rows are is computed in settle.ts. Months of `generations` are partitions, made ahead by the clock and
 * otherwise on demand.
 */
import type { Database, Transaction } from "../../backing/backing.ts";
import type { AccountPush, KeyMonthPush } from "../../backing/counters.ts";
import { arrayText, recordsText } from "../../backing/sql-text.ts";
import { monthOf, isoTime, monthBounds, type Month } from "../../kernel/clock.ts";
import { timeOfId } from "../../kernel/ids.ts";
import { addToBudgets, ledgerVersion, selectClaims, type SpentClaim } from "../credit/store.ts";
import type { Sent } from "../field-parts.ts";
import { columnFields } from "../generation-fields.ts";
import type { Settlement } from "../journal/settlement.ts";
import { idempotencyMs, idSkewMsMax } from "../limits.ts";
import {
  bookingOf,
  type AccountHead,
  type Books,
  type Entry,
  type KeyMonthSum,
  type MonthSum,
  type Row,
  type Charge,
  type Booked,
  type FreshCharge,
  type SettlementStore,
} from "./settle.ts";

export function settlementStore(sql: Database): SettlementStore {
  const months = new GenerationsMonths(sql);
  return {
    async settle(charges) {
      await months.make(charges.map(({ settlement }) => settlement));
      return sql.begin((tx) => settleIn(tx, charges)) as Promise<Booked>;
    },
  };
}

async function settleIn(tx: Transaction, charges: Charge[]): Promise<Booked> {
  const { rows, entries, refused, heads, ...sums } = bookingOf(charges, await readBooks(tx, charges));
  const late = rows.filter((row) => row.late);
  if (late.length > 0) await removeUncharged(tx, late);
  const [months, keyMonths, budgets] = await Promise.all([
    addToMonths(tx, sums.months),
    addToKeyMonths(tx, sums.keyMonths),
    addToBudgets(sums.budgets, tx),
    writeRows(tx, rows),
    writeEntries(tx, entries),
    moveHeads(tx, entries),
  ]);
  const epochs = new Map(heads.map(({ workspace, epoch }) => [workspace, epoch]));
  const versions = new Map(
    heads.map(({ workspace, epoch, sequence }) => [workspace, ledgerVersion({ epoch, number: sequence })]),
  );
  const versionOf = (workspace: string): bigint => versions.get(workspace) ?? 0n;
  return {
    fresh: new Map(rows.map((row) => [row.settlement.generation, freshCharge(row)])),
    refused,
    late: generationsOf(late),
    accounts: heads.map(({ workspace, balance }) => {
      return { workspace, balance, sequence: versionOf(workspace), months: months.get(workspace) ?? [] };
    }),
    keyMonths: keyMonths.map((total) => {
      const version = ledgerVersion({ epoch: epochs.get(total.workspace) ?? 0n, number: total.version });
      return { ...total, version, sequence: versionOf(total.workspace) };
    }),
    ...(budgets.length > 0 && { budgets: budgets.map((total) => ({ ...total, sequence: versionOf(total.workspace) })) }),
  };
}

function freshCharge({ cost, excess, repeats }: Row): FreshCharge {
  return repeats === undefined ? { cost, excess } : { cost, excess, repeats };
}

function generationsOf(rows: Row[]): Booked["late"] {
  return new Set(rows.map(({ settlement }) => settlement.generation));
}

/** The later statements see the commits of transactions that held the locks before. */
async function readBooks(tx: Transaction, charges: Charge[]): Promise<Books> {
  const workspaces = [...new Set(charges.map(({ settlement }) => settlement.workspace))];
  const [heads, booked, claims] = await Promise.all([
    tx<AccountHead[]>`
      SELECT workspace_id AS workspace, balance_nano AS balance, sequence, epoch, has_budgets AS "hasBudgets"
      FROM unnest(${arrayText(workspaces, (id) => id)}::text[]) AS named (id) JOIN credit_accounts ON workspace_id = named.id
      ORDER BY workspace_id FOR NO KEY UPDATE OF credit_accounts`,
    tx<{ generation: string; outcome: Row["settlement"]["outcome"] }[]>`
      SELECT generation, outcome
      FROM outcomes_of(${arrayText(charges, ({ settlement }) => settlement.generation)}::text[])`,
    readClaims(tx, charges),
  ]);
  return { heads, outcomes: new Map(booked.map(({ generation, outcome }) => [generation, outcome])), claims };
}

/** Wherever their ids lie: a claim that is missed would be charged twice. */
async function readClaims(tx: Transaction, charges: Charge[]): Promise<SpentClaim[]> {
  const claims: string[] = [];
  let [first, last] = [Infinity, 0];
  for (const { settlement } of charges) {
    const { claim, admittedAt } = settlement;
    if (!claim) continue;
    claims.push(claim.id);
    [first, last] = [Math.min(first, admittedAt), Math.max(last, admittedAt)];
  }
  if (claims.length === 0) return [];
  return selectClaims({ claims, since: first - idempotencyMs, until: last + idempotencyMs, skewMs: idSkewMsMax }, tx);
}

/** Removes rows that were booked without a charge, as unknown or expired: the true rows replace them. */
async function removeUncharged(tx: Transaction, rows: Row[]): Promise<void> {
  await tx`
    DELETE FROM generations
    WHERE generation_id = ANY(${arrayText(rows, ({ settlement }) => settlement.generation)}::text[]) AND outcome <> 'settled'`;
}

async function writeRows(tx: Transaction, rows: Row[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    INSERT INTO generations (${tx.unsafe(columnList)}, booked_at)
    SELECT ${tx.unsafe(sentList)}, CASE WHEN entry IS NULL THEN now() END
    FROM unnest(${recordsText(rows, fieldsOf)}::text::booked_generation[])`;
}

const columnList = columnFields.map(({ name }) => name).join(", ");
const sentList = columnFields
  .map(({ name, sent }) => (name === "admitted_at" ? `to_timestamp(${sent} / 1000.0::float8)` : sent))
  .join(", ");

/** In the order of the type `booked_generation`. Code that is written once, as the codec of settlements is and for the same reason. */
const fieldsOf = new Function("stores", fieldsCode())(columnFields.map(({ store }) => store)) as (row: Row) => Sent[];

function fieldsCode(): string {
  const fields = columnFields.map(({ path }, index) => `stores[${index}](${path ?? "undefined"}, row)`);
  return `return (row) => { const { settlement } = row; return [${fields.join(", ")}]; };`;
}

async function writeEntries(tx: Transaction, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, charges)
    SELECT workspace, sequence, 'charge', amount, balance_after, charges FROM unnest(
      ${arrayText(entries, ({ workspace }) => workspace)}::text[], ${arrayText(entries, ({ sequence }) => sequence)}::bigint[],
      ${arrayText(entries, ({ amount }) => amount)}::bigint[], ${arrayText(entries, ({ balanceAfter }) => balanceAfter)}::bigint[],
      ${arrayText(entries, ({ charges }) => charges)}::integer[]
    ) AS entry (workspace, sequence, amount, balance_after, charges)`;
}

async function moveHeads(tx: Transaction, entries: Entry[]): Promise<void> {
  if (entries.length === 0) return;
  await tx`
    UPDATE credit_accounts SET balance_nano = head.balance, sequence = head.sequence FROM unnest(
      ${arrayText(entries, ({ workspace }) => workspace)}::text[], ${arrayText(entries, ({ balanceAfter }) => balanceAfter)}::bigint[],
      ${arrayText(entries, ({ sequence }) => sequence)}::bigint[]) AS head (workspace, balance, sequence)
    WHERE credit_accounts.workspace_id = head.workspace`;
}

/*
 * Totals are updated if they exist, as they nearly always do, and otherwise inserted: an upsert would lock each row before it updates it,
 * at twice the cost.
 */

/** @returns the totals after the update, by workspace */
async function addToMonths(tx: Transaction, sums: MonthSum[]): Promise<Map<string, AccountPush["months"]>> {
  const totals = new Map<string, AccountPush["months"]>();
  if (sums.length === 0) return totals;
  const rows = await tx<MonthSum[]>`
    WITH sum AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayText(sums, ({ workspace }) => workspace)}::text[], ${arrayText(sums, ({ month }) => month)}::text[],
        ${arrayText(sums, ({ spent }) => spent)}::bigint[]) AS sum (workspace, month, spent)
    ), updated AS (
      UPDATE workspace_months AS total SET spent_nano = spent_nano + sum.spent FROM sum
      WHERE total.workspace_id = sum.workspace AND total.month = sum.month
      RETURNING total.workspace_id AS workspace, total.month, spent_nano AS spent
    ), inserted AS (
      INSERT INTO workspace_months AS total (workspace_id, month, spent_nano)
      SELECT * FROM sum WHERE NOT EXISTS (SELECT FROM updated WHERE updated.workspace = sum.workspace AND updated.month = sum.month)
      RETURNING workspace_id AS workspace, month, spent_nano AS spent
    )
    SELECT * FROM updated UNION ALL SELECT * FROM inserted`;
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
    WITH sum AS MATERIALIZED (
      SELECT key, month, spent, to_timestamp(used_ms / 1000.0::float8) AS used_at FROM unnest(
        ${arrayText(sums, ({ key }) => key)}::text[], ${arrayText(sums, ({ month }) => month)}::text[],
        ${arrayText(sums, ({ spent }) => spent)}::bigint[], ${arrayText(sums, ({ usedAt }) => usedAt)}::bigint[]
      ) AS sum (key, month, spent, used_ms)
    ), updated AS (
      UPDATE key_months AS total SET spent_nano = spent_nano + sum.spent, version = version + (sum.spent > 0)::integer,
        last_used_at = greatest(last_used_at, sum.used_at)
      FROM sum WHERE total.key_id = sum.key AND total.month = sum.month
      RETURNING total.key_id AS key, total.month, spent_nano AS spent, version
    ), inserted AS (
      INSERT INTO key_months AS total (key_id, month, spent_nano, version, last_used_at)
      SELECT key, month, spent, (spent > 0)::integer, used_at FROM sum
      WHERE NOT EXISTS (SELECT FROM updated WHERE updated.key = sum.key AND updated.month = sum.month)
      RETURNING key_id AS key, month, spent_nano AS spent, version
    )
    SELECT * FROM updated UNION ALL SELECT * FROM inserted`;
  const workspaces = new Map(sums.map(({ workspace, key }) => [key, workspace]));
  return rows.map((row) => ({ workspace: workspaces.get(row.key) ?? "", ...row }));
}

// The monthly partitions of generations, by the times that ids begin with

/** With the SQLSTATE of an invalid value: this settlement can never be booked. */
class GenerationTimeError extends Error {
  readonly code = "22023";
}

type Timed = Pick<Settlement, "generation" | "admittedAt">;

/** Remembers which months it has made, so that the database is asked once for each. */
export class GenerationsMonths {
  readonly #sql: Database;
  readonly #made = new Set<Month>();

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /**
   * Makes the months of these generations, if they are missing.
   * @throws Error with SQLSTATE 22023 when retention has deleted such a month, or an id's time is far from its admission
   */
  async make(generations: readonly Timed[]): Promise<void> {
    for (const month of new Set(generations.map(monthOfGeneration))) {
      if (this.#made.has(month)) continue;
      await makeMonth(month, this.#sql);
      this.#made.add(month);
    }
  }
}

/** The gateway's clock made the id, and the counters' clock the time of admission. */
function monthOfGeneration({ generation, admittedAt }: Timed): Month {
  const begunAt = timeOfId(generation);
  if (Math.abs(begunAt - admittedAt) > idSkewMsMax) {
    const times = `its id is of ${isoTime(begunAt)}, and it was admitted at ${isoTime(admittedAt)}`;
    throw new GenerationTimeError(`The clock of the gateway of ${generation} is wrong: ${times}`);
  }
  return monthOf(begunAt);
}

/** Makes this month and the next ahead of need. */
export async function makeMonthsAhead(nowMs: number, sql: Database): Promise<void> {
  await makeMonth(monthOf(nowMs), sql);
  await makeMonth(monthOf(monthBounds(monthOf(nowMs)).endMs), sql);
}

async function makeMonth(month: Month, sql: Database): Promise<void> {
  await sql`SELECT make_generations_month(${month})`;
}
