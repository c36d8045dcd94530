/** All SQL of settlement. Rows are locked in the order accounts by workspace, charges by generation, totals by key. */
import type { Database, Transaction } from "../backing/backing.ts";
import type { AccountPush, KeyMonthPush } from "../backing/counters.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Booked, SettlementStore } from "./settle.ts";
import type { Charge } from "./charge.ts";

interface AccountRow {
  workspace_id: string;
  balance_nano: bigint;
  sequence: bigint;
}

export function settlementStore(sql: Database): SettlementStore {
  return { settle: (charges) => sql.begin((tx) => settleIn(tx, charges)) as Promise<Booked> };
}

async function settleIn(tx: Transaction, charges: Charge[]): Promise<Booked> {
  const workspaces = [...new Set(charges.map(({ settlement }) => settlement.workspace))].toSorted();
  const accounts = await tx<AccountRow[]>`
    SELECT workspace_id, balance_nano, sequence FROM credit_accounts
    WHERE workspace_id = ANY(${workspaces}::text[]) ORDER BY workspace_id FOR UPDATE`;
  const known = new Set(accounts.map((account) => account.workspace_id));
  const bookable = charges.filter(({ settlement }) => known.has(settlement.workspace));
  const refused = charges.filter(({ settlement }) => !known.has(settlement.workspace));
  const inserted = await insertCharges(tx, bookable);
  const fresh = bookable.filter(({ settlement }) => inserted.has(settlement.generation));
  const heads = await appendToLedger(tx, accounts, fresh);
  await addToMonths(tx, fresh);
  await writeLog(tx, fresh);
  await noteUse(tx, fresh);
  const { months, keyMonths } = await readTotals(tx, bookable);
  const sequences = new Map(heads.map(({ workspace, sequence }) => [workspace, sequence]));
  return {
    fresh: new Set(inserted.keys()),
    refused: new Set(refused.map(({ settlement }) => settlement.generation)),
    late: new Set([...inserted].flatMap(([generation, late]) => (late ? [generation] : []))),
    accounts: heads.map((head) => ({ ...head, months: months.get(head.workspace) ?? [] })),
    keyMonths: keyMonths.map((total) => ({ ...total, sequence: sequences.get(total.workspace) ?? 0n })),
  };
}

/** Generation → whether it is late. A charge that was given up as unknown or expired is replaced by the true one, once. */
async function insertCharges(tx: Transaction, charges: Charge[]): Promise<Map<string, boolean>> {
  if (charges.length === 0) return new Map();
  const column = <T>(read: (charge: Charge) => T): T[] => charges.map(read);
  const rows = await tx<{ generation_id: string; late: boolean }[]>`
    INSERT INTO charges (generation_id, workspace_id, key_id, month, outcome, reserved_nano, cost_nano, cost_pico)
    SELECT * FROM unnest(
      ${column(({ settlement }) => settlement.generation)}::text[], ${column(({ settlement }) => settlement.workspace)}::text[],
      ${column(({ settlement }) => settlement.key)}::text[], ${column(({ settlement }) => settlement.month)}::text[],
      ${column(({ settlement }) => settlement.outcome)}::text[], ${column(({ settlement }) => settlement.reserved)}::bigint[],
      ${column(({ cost }) => cost.toString())}::bigint[], ${column(({ costPico }) => costPico.toString())}::numeric[])
    ON CONFLICT (generation_id) DO UPDATE SET
      outcome = excluded.outcome, cost_nano = excluded.cost_nano, cost_pico = excluded.cost_pico, late = true, at = now()
      WHERE charges.outcome <> 'settled' AND excluded.outcome = 'settled'
    RETURNING generation_id, late`;
  return new Map(rows.map((row) => [row.generation_id, row.late]));
}

/** One entry for each charge above zero, gapless on from the head of its workspace. Returns the heads, moved or not. */
async function appendToLedger(
  tx: Transaction,
  accounts: AccountRow[],
  charges: Charge[],
): Promise<Omit<AccountPush, "months">[]> {
  const heads = new Map(
    accounts.map((row) => [row.workspace_id, { workspace: row.workspace_id, balance: row.balance_nano, sequence: row.sequence }]),
  );
  const entries: { workspace: string; sequence: string; amount: string; balanceAfter: string; reference: string }[] = [];
  for (const { settlement, cost } of charges) {
    const head = heads.get(settlement.workspace);
    if (!head || cost === 0n) continue;
    head.sequence += 1n;
    head.balance -= cost;
    entries.push({
      workspace: head.workspace,
      sequence: head.sequence.toString(),
      amount: (-cost).toString(),
      balanceAfter: head.balance.toString(),
      reference: settlement.generation,
    });
  }
  if (entries.length > 0) await insertEntries(tx, entries, [...heads.values()]);
  return [...heads.values()];
}

async function insertEntries(
  tx: Transaction,
  entries: { workspace: string; sequence: string; amount: string; balanceAfter: string; reference: string }[],
  heads: Omit<AccountPush, "months">[],
): Promise<void> {
  await tx`
    INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference)
    SELECT workspace, sequence, 'charge', amount, balance_after, reference FROM unnest(
      ${entries.map((entry) => entry.workspace)}::text[], ${entries.map((entry) => entry.sequence)}::bigint[],
      ${entries.map((entry) => entry.amount)}::bigint[], ${entries.map((entry) => entry.balanceAfter)}::bigint[],
      ${entries.map((entry) => entry.reference)}::text[]) AS entry (workspace, sequence, amount, balance_after, reference)`;
  await tx`
    UPDATE credit_accounts SET balance_nano = head.balance, sequence = head.sequence FROM unnest(
      ${heads.map((head) => head.workspace)}::text[], ${heads.map((head) => head.balance.toString())}::bigint[],
      ${heads.map((head) => head.sequence.toString())}::bigint[]) AS head (workspace, balance, sequence)
    WHERE credit_accounts.workspace_id = head.workspace`;
}

async function addToMonths(tx: Transaction, charges: Charge[]): Promise<void> {
  const paid = charges.filter(({ cost }) => cost > 0n);
  if (paid.length === 0) return;
  const column = (read: (charge: Charge) => string): string[] => paid.map(read);
  const months = column(({ settlement }) => settlement.month);
  const costs = column(({ cost }) => cost.toString());
  await tx`
    INSERT INTO workspace_months (workspace_id, month, spent_nano)
    SELECT id, month, sum(cost)::bigint
    FROM unnest(${column(({ settlement }) => settlement.workspace)}::text[], ${months}::text[], ${costs}::bigint[]) AS paid (id, month, cost)
    GROUP BY id, month ORDER BY id, month
    ON CONFLICT (workspace_id, month) DO UPDATE SET spent_nano = workspace_months.spent_nano + excluded.spent_nano`;
  await tx`
    INSERT INTO key_months (key_id, month, spent_nano, version)
    SELECT id, month, sum(cost)::bigint, 1
    FROM unnest(${column(({ settlement }) => settlement.key)}::text[], ${months}::text[], ${costs}::bigint[]) AS paid (id, month, cost)
    GROUP BY id, month ORDER BY id, month
    ON CONFLICT (key_id, month) DO UPDATE SET
      spent_nano = key_months.spent_nano + excluded.spent_nano, version = key_months.version + 1`;
}

async function writeLog(tx: Transaction, charges: Charge[]): Promise<void> {
  if (charges.length === 0) return;
  const rows = charges.map(({ settlement, cost }) => ({
    generation_id: settlement.generation,
    at: isoTime(settlement.admittedAt),
    request_id: settlement.request,
    workspace_id: settlement.workspace,
    key_id: settlement.key,
    model: settlement.model,
    provider: settlement.provider,
    status: settlement.status,
    code: settlement.code,
    streamed: settlement.streamed,
    prompt_tokens: settlement.usage.promptTokens,
    cached_tokens: settlement.usage.cachedTokens,
    completion_tokens: settlement.usage.completionTokens,
    reserved_nano: settlement.reserved,
    cost_nano: cost.toString(),
    usage_estimated: settlement.usageEstimated,
    first_token_ms: settlement.firstTokenMs,
    duration_ms: settlement.durationMs,
  }));
  await tx`
    INSERT INTO request_log
    SELECT * FROM jsonb_populate_recordset(NULL::request_log, ${tx.json(rows)})
    ON CONFLICT (generation_id, at) DO UPDATE SET
      request_id = excluded.request_id, model = excluded.model, provider = excluded.provider, status = excluded.status,
      code = excluded.code, streamed = excluded.streamed, prompt_tokens = excluded.prompt_tokens,
      cached_tokens = excluded.cached_tokens, completion_tokens = excluded.completion_tokens, cost_nano = excluded.cost_nano,
      usage_estimated = excluded.usage_estimated, first_token_ms = excluded.first_token_ms, duration_ms = excluded.duration_ms`;
}

/** To the second, and not while somebody edits the key: settlement waits for nobody, and its rows are locked in no order here. */
async function noteUse(tx: Transaction, charges: Charge[]): Promise<void> {
  if (charges.length === 0) return;
  const keys = charges.map(({ settlement }) => settlement.key);
  const times = charges.map(({ settlement }) => isoTime(settlement.admittedAt));
  await tx`
    WITH used AS (
      SELECT id, max(at) AS at FROM unnest(${keys}::text[], ${times}::timestamptz[]) AS use (id, at) GROUP BY id
    ), noted AS (
      SELECT api_keys.id, used.at FROM api_keys JOIN used ON used.id = api_keys.id
      WHERE last_used_at IS NULL OR last_used_at < used.at - interval '1 second'
      FOR NO KEY UPDATE OF api_keys SKIP LOCKED
    )
    UPDATE api_keys SET last_used_at = noted.at FROM noted WHERE api_keys.id = noted.id`;
}

interface Totals {
  months: Map<string, AccountPush["months"]>;
  keyMonths: Omit<KeyMonthPush, "sequence">[];
}

async function readTotals(tx: Transaction, charges: Charge[]): Promise<Totals> {
  const months = new Map<string, AccountPush["months"]>();
  if (charges.length === 0) return { months, keyMonths: [] };
  const column = (read: (charge: Charge) => string): string[] => charges.map(read);
  const named = tx`SELECT DISTINCT * FROM unnest(
    ${column(({ settlement }) => settlement.workspace)}::text[], ${column(({ settlement }) => settlement.key)}::text[],
    ${column(({ settlement }) => settlement.month)}::text[]) AS named (workspace, key, month)`;
  const rows = await tx<
    { workspace: string; key: string; month: string; key_spent: bigint; version: bigint; workspace_spent: bigint }[]
  >`
    SELECT named.workspace, named.key, named.month, coalesce(key_months.spent_nano, 0) AS key_spent,
      coalesce(key_months.version, 0) AS version, coalesce(workspace_months.spent_nano, 0) AS workspace_spent
    FROM (${named}) AS named
    LEFT JOIN key_months ON key_months.key_id = named.key AND key_months.month = named.month
    LEFT JOIN workspace_months ON workspace_months.workspace_id = named.workspace AND workspace_months.month = named.month`;
  for (const row of rows) {
    const list = months.get(row.workspace) ?? [];
    months.set(row.workspace, list);
    if (!list.some(({ month }) => month === row.month)) list.push({ month: row.month, spent: row.workspace_spent });
  }
  const keyMonths = rows.map((row) => ({
    workspace: row.workspace,
    key: row.key,
    month: row.month,
    spent: row.key_spent,
    version: row.version,
  }));
  return { months, keyMonths };
}
