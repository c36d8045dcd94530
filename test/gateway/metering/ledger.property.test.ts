/** The ledger in memory, which other tests rely on, equals the ledger in SQL after the same settlements. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Database } from "../../../src/backing/backing.ts";
import { openBudgets, ledgerVersion, beginEpochs, selectServer } from "../../../src/gateway/credit/store.ts";
import { loadAccount, readKeyMonth, readPositions } from "../../../src/gateway/credit/load.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { chargeOf, oncePerGeneration, type Booked } from "../../../src/gateway/metering/settle.ts";
import { settlementStore } from "../../../src/gateway/metering/store.ts";
import { maintenanceStore } from "../../../src/gateway/metering/maintenance-store.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { MemoryLedger } from "../../support/gateway/memory-ledger.ts";
import { settlement } from "../../support/gateway/settlements.ts";

const events = fc.array(
  fc.record({
    generation: fc.nat(11),
    workspace: fc.nat(2),
    key: fc.nat(1),
    outcome: fc.constantFrom("settled" as const, "settled" as const, "unknown" as const, "expired" as const),
    promptTokens: fc.nat(3),
    /** In nano-USD; a token costs 1,000. */
    reserved: fc.constantFrom(0, 1_500, 1_000_000),
    month: fc.constantFrom("2026-11", "2026-12"),
    /** Served by a workspace's own key. */
    own: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12, size: "max" },
);
const free = { input: "0", output: "0", cacheRead: "0", cacheWrite: "0" };
type Event = typeof events extends fc.Arbitrary<(infer One)[]> ? One : never;

describe.each(databases)("random settlements on $name", ({ open }) => {
  let database: TestDatabase;
  const spaces: { id: string; keys: string[] }[] = [];
  /** In USD; the second workspace's credit is soon used up. */
  const credits: Record<string, string> = { a: "1", b: "0.00002" };
  beforeAll(async () => {
    database = await open();
    const control = new Control(database.sql);
    for (const name of ["a", "b"]) {
      const id = await control.workspace(name, credits[name]);
      spaces.push({ id, keys: [(await control.key(name)).id, (await control.key(name)).id] });
    }
    spaces.push({ id: "ws-nowhere", keys: ["key-1", "key-2"] });
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** Both judge positions of counters alike, whether behind, at the head or ahead, and begin the same epoch. */
  async function compareEpochs(chosen: number, memory: MemoryLedger): Promise<void> {
    const { sql } = database;
    memory.epochs.server = await selectServer(sql);
    const maintenance = maintenanceStore(sql);
    const due = await maintenance.replayDue();
    expect(due).toEqual(await memory.replayDue());
    if (due) for (const one of [maintenance, memory]) await one.finishReplay(due);
    const heads = await readPositions(
      spaces.map(({ id }) => ({ workspace: id, version: null })),
      sql,
    );
    const counted = spaces.map(({ id }) => {
      const version = (heads.get(id)?.version ?? ledgerVersion({ epoch: 0n, number: 0n })) + BigInt((chosen % 3) - 1);
      return { workspace: id, version: version < 0n ? null : version };
    });
    expect(await readPositions(counted, sql)).toEqual(await memory.positions(counted));
    if (chosen % 4 !== 0) return;
    const starts = spaces.map(({ id }, place) => {
      const after = memory.epochs.of(id) + BigInt(place % 2);
      return { workspace: id, after, epoch: after + 1n, isRebuilding: false };
    });
    expect(await beginEpochs(starts, sql)).toEqual(await memory.beginEpochs(starts));
  }

  test("each batch has the same result as in the memory ledger, and the stored money stays consistent", async () => {
    const memory = new MemoryLedger();
    for (const [index, credit] of [1_000_000_000n, 20_000n].entries()) memory.open(spaces[index]?.id ?? "", credit);
    const callerOf = await ownersOf(database.sql);
    for (const [key, caller] of callerOf) memory.owners.set(key, caller);
    const store = settlementStore(database.sql);
    await fc.assert(
      fc.asyncProperty(fc.array(events, { minLength: 1, maxLength: 5, size: "max" }), async (batches) => {
        const ids = Array.from({ length: 12 }, () => newGenerationId(Date.UTC(2026, 10, 20)));
        for (const [round, batch] of batches.entries()) {
          for (const { id: workspace, keys } of spaces.slice(0, 2)) {
            const totals = budgetsOf(keys, callerOf).slice(0, round);
            const opened = totals.length === 0 ? [] : await openBudgets({ workspace, totals }, database.sql);
            const expected = totals.length === 0 ? [] : await memory.budgets(workspace, totals);
            expect(opened.toSorted(byText)).toEqual(expected.toSorted(byText));
          }
          await compareEpochs(batch.length, memory);
          const charges = oncePerGeneration(batch.map((one) => settlementOf(one, ids))).map(chargeOf);
          expect(sorted(await store.settle(charges))).toEqual(sorted(await memory.settle(charges)));
        }
        for (const { id, keys } of spaces) {
          const stored = await loadAccount({ workspace: id, generations: ids }, database.sql);
          const expected = await memory.account(id, ids);
          expect(stored && sortedAccount(stored)).toEqual(expected && sortedAccount(expected));
          for (const key of keys) {
            const place = { workspace: id, key, month: "2026-11" };
            expect(await readKeyMonth(place, database.sql)).toEqual(await memory.keyMonth(id, key, place.month));
          }
        }
      }),
      { numRuns: 25, verbose: 1 },
    );
    const workspaces = spaces.slice(0, 2).map(({ id }) => id);
    const heads = await maintenanceStore(database.sql).readAccounts(workspaces, "2026-12");
    expect(heads.toSorted(byText)).toEqual(workspaces.map((id) => memory.head(id, "2026-12")).toSorted(byText));
    expect(await storedRows(database.sql)).toEqual(expectedRows(memory));
    expect((await verifyLedger({ sql: database.sql })).broken).toBeNull();
  }, 60_000);

  /** A generation belongs to one workspace, key and month in all its settlements. */
  function settlementOf({ generation, outcome, promptTokens, reserved, own }: Event, ids: string[]): Settlement {
    const { id, keys } = spaces[generation % 3] ?? { id: "", keys: [] };
    const usage = { promptTokens, completionTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
    const lost = outcome === "settled" ? usage : { ...usage, promptTokens: 0 };
    const month = generation % 4 === 0 ? "2026-12" : "2026-11";
    return settlement({
      generation: ids[generation] ?? "",
      workspace: id,
      key: keys[generation % 2] ?? "",
      month,
      outcome,
      reserved: reserved.toString(),
      usage: lost,
      ...(own && outcome === "settled" && { prices: free, ownKey: { id: "own-1", listCost: "7" } }),
    });
  }
});

/** The members who own keys, by key, as their caller ids. */
async function ownersOf(sql: Database): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; caller: string }[]>`
    SELECT id, caller_id AS caller FROM api_keys JOIN members USING (workspace_id) WHERE email = owner_email`;
  return new Map(rows.map(({ id, caller }) => [id, caller]));
}

/** One budget more in each round. All generations are admitted at noon of the day. */
function budgetsOf(keys: string[], callerOf: ReadonlyMap<string, string>) {
  const since = Date.UTC(2026, 10, 20);
  const month = { name: `month:${callerOf.get(keys[0] ?? "")}`, since: Date.UTC(2026, 10, 1) };
  return [
    { name: "day:", since },
    { name: `day:${keys[0]}`, since },
    month,
    { name: `day:${keys[1]}`, since: since - 86_400_000 },
  ];
}

function sortedAccount({ account, budgets = [], ended }: Awaited<ReturnType<typeof loadAccount>> & object) {
  const known = budgets.map((budget) => ({ ...budget, callers: budget.callers?.toSorted() ?? null })).toSorted(byText);
  return { ...account, months: account.months.toSorted(byText), budgets: known, ended: [...ended].toSorted() };
}

function sorted({ fresh, refused, late, accounts, keyMonths, budgets = [] }: Booked) {
  return {
    budgets: budgets.toSorted(byText),
    fresh: [...fresh].toSorted(byText),
    refused: [...refused].toSorted(),
    late: [...late].toSorted(),
    accounts: accounts.map((account) => ({ ...account, months: account.months.toSorted(byText) })).toSorted(byText),
    keyMonths: [...new Map(keyMonths.map((one) => [text(one), one])).values()].toSorted(byText),
  };
}

/** All rows of charges, entries and totals, as text. */
async function storedRows(sql: Database): Promise<unknown[]> {
  const charges = await sql`
    SELECT generation_id, workspace_id, key_id, coalesce(month, '2026-11') AS month, outcome, entry, cost_nano, cost_pico, excess_nano, late
    FROM generations`;
  const entries = await sql`
    SELECT workspace_id, sequence, kind, amount_nano, balance_after_nano, charges FROM ledger_entries`;
  const months = await sql`SELECT workspace_id, month, spent_nano FROM workspace_months`;
  const keyMonths = await sql`SELECT key_id, month, spent_nano, version FROM key_months`;
  return [...charges, ...entries, ...months, ...keyMonths].map((row) => text(Object.values(row).map(String))).toSorted();
}

function expectedRows({ accounts, charges, workspaceMonths, keyMonths }: MemoryLedger): unknown[] {
  const rows: unknown[][] = [...charges.values()].map(({ settlement, cost, costPico, excess, late, entry }) => {
    const { generation, workspace, key, month, outcome } = settlement;
    return [generation, workspace, key, month, outcome, entry, cost, costPico, excess, late];
  });
  for (const [workspace, { entries }] of accounts) {
    for (const [index, { kind, amount, balanceAfter, charges: sum }] of entries.entries()) {
      rows.push([workspace, index + 1, kind, amount, balanceAfter, sum]);
    }
  }
  for (const [name, spent] of workspaceMonths) rows.push([...name.split(" "), spent]);
  for (const [name, { spent, version }] of keyMonths) rows.push([...name.split(" "), spent, version]);
  return rows.map((row) => text(row.map(String))).toSorted();
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === "bigint" ? one.toString() : one));
}

function byText(a: unknown, b: unknown): number {
  return text(a) < text(b) ? -1 : 1;
}
