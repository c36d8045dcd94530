import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { verifyLedger, type Verification } from "../../../src/gateway/metering/verify.ts";
import { rollUpUsage } from "../../../src/gateway/usage/roll-up.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";

describe.each(databases)("ledger verify on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspace: string;
  let key: string;
  let paid: Settlement;
  let free: Settlement;
  let left: Settlement;
  let ofEmptyLedger: Verification;
  const gone = { status: 499, code: "client_gone", usageEstimated: true };

  beforeAll(async () => {
    database = await open();
    ofEmptyLedger = await verify();
    control = new Control(database.sql);
    workspace = await control.workspace("w", "1");
    key = (await control.key("w")).id;
    await control.workspace("untouched");
    paid = settlement({ workspace, key });
    free = settlement({
      workspace,
      key,
      status: 502,
      code: "upstream_error",
      usage: { ...paid.usage, promptTokens: 0, completionTokens: 0 },
    });
    const october = settlement({ workspace, key, admittedAt: Date.UTC(2026, 9, 31) });
    /** 100 tokens at 1.235 nano-USD a token: half a nano-USD is rounded up. */
    left = settlement({ workspace, key, ...gone, prices: { ...paid.prices, input: "1235", output: "0" } });
    await book(database.sql, paid, free, october, left);
    await rollUpUsage({ sql: database.sql, clock: new ManualClock(Date.UTC(2026, 10, 21)) });
    await control.expect("POST", "/credit", { body: { workspace: "w", usd: "0.5", ref: "later" } });
    await database.sql`ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only`;
    await database.sql`ALTER TABLE generations DISABLE TRIGGER charges_are_final`;
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const verify = () => verifyLedger({ sql: database.sql });

  test("the invariants hold for rows of credit and metering, and the result counts the checked rows", async () => {
    expect(await verify()).toEqual({
      ok: true,
      checked: [
        { invariant: "gapless_chain", rows: 3 },
        { invariant: "running_balance", rows: 3 },
        { invariant: "account_is_chain_head", rows: 2 },
        { invariant: "overdraft_explained", rows: 3 },
        { invariant: "entries_add_up", rows: 4 },
        { invariant: "charges_sum_to_entries", rows: 4 },
        { invariant: "workspace_month_totals", rows: 2 },
        { invariant: "key_month_totals", rows: 2 },
        { invariant: "cost_rounded_half_up", rows: 4 },
        { invariant: "charge_within_reservation", rows: 4 },
        { invariant: "charge_leaves_no_debt", rows: 1 },
        { invariant: "one_charge_a_key", rows: 0 },
        { invariant: "leaving_is_charged", rows: 1 },
        { invariant: "usage_adds_up", rows: 4 },
        { invariant: "usage_spans_agree", rows: 4 },
        { invariant: "usage_kinds_agree", rows: 2 },
        { invariant: "usage_counts_agree", rows: 6 },
        { invariant: "statement_matches_ledger", rows: 0 },
        { invariant: "budget_totals", rows: 0 },
      ],
      broken: null,
    });
  });

  test("the invariants hold for an empty ledger", () => {
    expect(ofEmptyLedger).toMatchObject({ ok: true, broken: null });
    expect(ofEmptyLedger.checked.every(({ rows }) => rows === 0)).toBe(true);
  });

  /** Copies the paid generation under another id. */
  const copied = (values: Record<string, string>) => {
    const fields = JSON.stringify({ generation_id: "$other" });
    const changed = Object.entries(values).map(([name, value]) => `'${name}', ${value}`);
    return `INSERT INTO generations SELECT copy.* FROM generations AS row, jsonb_populate_record(row,
      '${fields}'::jsonb || jsonb_build_object(${changed.join(", ")})) AS copy WHERE row.generation_id = '$generation'`;
  };

  /** Statements that break an invariant and statements that repair it; `$generation` is the paid one. */
  const breaks: { problem: string; invariant: string; names: string[]; harm: string[]; repair: string[] }[] = [
    {
      problem: "an entry is missing in the middle of the chain",
      invariant: "gapless_chain",
      names: ["entry 4 follows entry 2"],
      harm: [
        "UPDATE ledger_entries SET sequence = 4 WHERE sequence = 3",
        "UPDATE credit_accounts SET sequence = 4 WHERE sequence = 3",
      ],
      repair: [
        "UPDATE ledger_entries SET sequence = 3 WHERE sequence = 4",
        "UPDATE credit_accounts SET sequence = 3 WHERE sequence = 4",
      ],
    },
    {
      problem: "the chain does not begin with entry 1",
      invariant: "gapless_chain",
      names: ["entry 0 follows entry 0"],
      harm: [
        "ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entries_sequence_check",
        "UPDATE ledger_entries SET sequence = 0 WHERE sequence = 1",
      ],
      repair: ["UPDATE ledger_entries SET sequence = 1 WHERE sequence = 0"],
    },
    {
      problem: "a balance is not the previous one plus the amount",
      invariant: "running_balance",
      names: ["entry 2"],
      harm: ["UPDATE ledger_entries SET balance_after_nano = balance_after_nano + 1 WHERE sequence = 2"],
      repair: ["UPDATE ledger_entries SET balance_after_nano = balance_after_nano - 1 WHERE sequence = 2"],
    },
    {
      problem: "a charge adds money",
      invariant: "running_balance",
      names: ["entry 1", "charge of 1000000000"],
      harm: ["UPDATE ledger_entries SET kind = 'charge', charges = 1, reference = NULL WHERE sequence = 1"],
      repair: ["UPDATE ledger_entries SET kind = 'credit', charges = NULL, reference = 'workspace created' WHERE sequence = 1"],
    },
    {
      problem: "an account's balance is not that of the last entry",
      invariant: "account_is_chain_head",
      names: ["the account is at entry 3"],
      harm: ["UPDATE credit_accounts SET balance_nano = balance_nano + 1 WHERE sequence = 3"],
      repair: ["UPDATE credit_accounts SET balance_nano = balance_nano - 1 WHERE sequence = 3"],
    },
    {
      problem: "an account without credit has a balance",
      invariant: "account_is_chain_head",
      names: ["entry 0 with 1, the chain ends at entry 0 with 0"],
      harm: ["UPDATE credit_accounts SET balance_nano = 1 WHERE sequence = 0"],
      repair: ["UPDATE credit_accounts SET balance_nano = 0 WHERE sequence = 0"],
    },
    {
      problem: "a charge is missing",
      invariant: "entries_add_up",
      names: ["workspace $workspace, entry 2: 4 charges of 400124 entered, 3 charges of 200124 stored"],
      harm: [
        "CREATE TABLE kept AS SELECT * FROM generations WHERE generation_id = '$generation'",
        "DELETE FROM generations WHERE generation_id = '$generation'",
      ],
      repair: ["INSERT INTO generations SELECT * FROM kept", "DROP TABLE kept"],
    },
    {
      problem: "a charge of nothing is missing",
      invariant: "entries_add_up",
      names: ["4 charges of 400124 entered, 3 charges of 400124 stored"],
      harm: [
        "CREATE TABLE kept AS SELECT * FROM generations WHERE generation_id = '$free'",
        "DELETE FROM generations WHERE generation_id = '$free'",
      ],
      repair: ["INSERT INTO generations SELECT * FROM kept", "DROP TABLE kept"],
    },
    {
      problem: "a charge has another amount than its entry counts",
      invariant: "entries_add_up",
      names: ["4 charges of 400124 entered, 4 charges of 400125 stored"],
      harm: ["UPDATE generations SET cost_nano = 200001 WHERE generation_id = '$generation'"],
      repair: ["UPDATE generations SET cost_nano = 200000 WHERE generation_id = '$generation'"],
    },
    {
      problem: "a charge stands outside of an entry",
      invariant: "entries_add_up",
      names: ["entry none: 0 charges of 0 entered, 1 charges of 200000 stored"],
      harm: ["ALTER TABLE generations DROP CONSTRAINT generations_check", copied({ entry: "NULL" })],
      repair: [
        "DELETE FROM generations WHERE generation_id = '$other'",
        "ALTER TABLE generations ADD CONSTRAINT generations_check CHECK (entry IS NOT NULL OR cost_nano = 0)",
      ],
    },
    {
      problem: "a charge names an entry that is not there",
      invariant: "entries_add_up",
      names: ["entry 9: 0 charges of 0 entered, 1 charges of 200000 stored"],
      harm: [copied({ entry: "9" })],
      repair: ["DELETE FROM generations WHERE generation_id = '$other'"],
    },
    {
      problem: "a charge has another workspace than its entry",
      invariant: "entries_add_up",
      names: ["ws-other, entry 2: 0 charges of 0 entered, 1 charges of 200000 stored"],
      harm: [copied({ workspace_id: "'ws-other'" })],
      repair: ["DELETE FROM generations WHERE generation_id = '$other'"],
    },
    {
      problem: "a charge was entered twice",
      invariant: "entries_add_up",
      names: ["$workspace, entry 4: 1 charges of 200000 entered, 0 charges of 0 stored"],
      harm: [
        `INSERT INTO ledger_entries SELECT workspace_id, 4, 'charge', -200000, balance_after_nano - 200000, NULL, now(), 1
         FROM ledger_entries WHERE sequence = 3`,
        "UPDATE credit_accounts SET sequence = 4, balance_nano = balance_nano - 200000 WHERE sequence = 3",
      ],
      repair: [
        "DELETE FROM ledger_entries WHERE sequence = 4",
        "UPDATE credit_accounts SET sequence = 3, balance_nano = balance_nano + 200000 WHERE sequence = 4",
      ],
    },
    {
      problem: "a charge was lost and retention is said to have deleted it",
      invariant: "charges_sum_to_entries",
      names: ["$workspace: 3 charges of 200124, entries of 4 charges and 400124"],
      harm: [
        "CREATE TABLE kept AS SELECT * FROM generations WHERE generation_id = '$generation'",
        "DELETE FROM generations WHERE generation_id = '$generation'",
        "INSERT INTO retained_entries VALUES ('$workspace', 2)",
      ],
      repair: ["INSERT INTO generations SELECT * FROM kept", "DROP TABLE kept", "DELETE FROM retained_entries"],
    },
    {
      problem: "a workspace's month is not the sum of its charges",
      invariant: "workspace_month_totals",
      names: ["$workspace, 2026-10", "a total of 200001"],
      harm: ["UPDATE workspace_months SET spent_nano = spent_nano + 1 WHERE month = '2026-10'"],
      repair: ["UPDATE workspace_months SET spent_nano = spent_nano - 1 WHERE month = '2026-10'"],
    },
    {
      problem: "a key's month is missing",
      invariant: "key_month_totals",
      names: ["2026-10", "a total of 0"],
      harm: ["UPDATE key_months SET month = '2027-01' WHERE month = '2026-10'"],
      repair: ["UPDATE key_months SET month = '2026-10' WHERE month = '2027-01'"],
    },
    {
      problem: "half a nano-USD was rounded down",
      invariant: "cost_rounded_half_up",
      names: ["$generation", "200000500 pico-USD charged as 200000"],
      harm: ["UPDATE generations SET cost_pico = 200000500 WHERE generation_id = '$generation'"],
      repair: ["UPDATE generations SET cost_pico = 200000000 WHERE generation_id = '$generation'"],
    },
    {
      problem: "less than half a nano-USD was rounded up",
      invariant: "cost_rounded_half_up",
      names: ["$generation", "199999499 pico-USD charged as 200000"],
      harm: ["UPDATE generations SET cost_pico = 199999499 WHERE generation_id = '$generation'"],
      repair: ["UPDATE generations SET cost_pico = 200000000 WHERE generation_id = '$generation'"],
    },
    {
      problem: "a charge exceeds its reservation",
      invariant: "charge_within_reservation",
      names: ["$generation", "200000 of a reservation of 199999 charged"],
      harm: ["UPDATE generations SET reserved_nano = 199999 WHERE generation_id = '$generation'"],
      repair: ["UPDATE generations SET reserved_nano = 1000000 WHERE generation_id = '$generation'"],
    },
    {
      problem: "a charge is below the cost and below its reservation",
      invariant: "charge_within_reservation",
      names: ["$generation", "200000 of a reservation of 1000000 charged, with an excess of 7"],
      harm: ["UPDATE generations SET excess_nano = 7, cost_pico = 200007000 WHERE generation_id = '$generation'"],
      repair: ["UPDATE generations SET excess_nano = 0, cost_pico = 200000000 WHERE generation_id = '$generation'"],
    },
    {
      problem: "a client that disconnected is not charged for the prompt",
      invariant: "leaving_is_charged",
      names: ["$left", "charged for 0 and 50 tokens"],
      harm: ["UPDATE generations SET prompt_tokens = 0 WHERE generation_id = '$left'"],
      repair: ["UPDATE generations SET prompt_tokens = 100 WHERE generation_id = '$left'"],
    },
  ];

  const other = newGenerationId(Date.UTC(2026, 10, 20));
  const filled = (text: string) =>
    text
      .replaceAll("$generation", paid.generation)
      .replaceAll("$other", other)
      .replaceAll("$free", free.generation)
      .replaceAll("$workspace", workspace)
      .replaceAll("$left", left.generation);

  test.each(breaks)("the check fails when $problem", async ({ invariant, names, harm, repair }) => {
    for (const statement of harm) await database.sql.unsafe(filled(statement));
    const broken = await verify();
    for (const statement of repair) await database.sql.unsafe(filled(statement));
    expect(broken).toMatchObject({ ok: false, broken: { invariant } });
    for (const name of names) expect(broken.broken?.detail).toContain(filled(name));
    expect(broken.checked).toHaveLength(ofEmptyLedger.checked.length);
    expect(await verify()).toMatchObject({ ok: true });
  });

  test("the invariants hold at every moment while settlement and credit continue", async () => {
    const busy = await control.workspace("busy", "1");
    const spender = (await control.key("busy")).id;
    const additions = Array.from({ length: 20 }, async (_, index) => {
      await book(database.sql, settlement({ workspace: busy, key: spender }), settlement({ workspace: busy, key: spender }));
      await control.expect("POST", "/credit", { body: { workspace: "busy", usd: "0.1", ref: `payment ${index}` } });
    });
    const verifications = await Promise.all(Array.from({ length: 10 }, verify));
    await Promise.all(additions);
    expect(verifications.map(({ broken }) => broken)).toEqual(verifications.map(() => null));
  });
});

describe.each(databases)("ledger verify on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    await database.sql`ALTER TABLE ledger_entries DISABLE TRIGGER ledger_append_only`;
    await database.sql`ALTER TABLE generations DISABLE TRIGGER charges_are_final`;
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const verify = () => verifyLedger({ sql: database.sql });

  describe("a balance below zero", () => {
    let overdrawn: string;

    /** A refund between the credit and a charge of all of it. */
    beforeAll(async () => {
      overdrawn = await control.workspace("overdrawn", "0.0002");
      const charged = settlement({ workspace: overdrawn, key: (await control.key("overdrawn")).id });
      await book(database.sql, charged);
      const { sql } = database;
      await sql`UPDATE ledger_entries SET sequence = 3, balance_after_nano = -50000 WHERE workspace_id = ${overdrawn} AND sequence = 2`;
      await sql`UPDATE generations SET entry = 3 WHERE generation_id = ${charged.generation}`;
      await sql`
        INSERT INTO ledger_entries (workspace_id, sequence, kind, amount_nano, balance_after_nano, reference)
        VALUES (${overdrawn}, 2, 'refund', -50000, 150000, 're_1')`;
      await sql`UPDATE credit_accounts SET sequence = 3, balance_nano = -50000 WHERE workspace_id = ${overdrawn}`;
    });

    test("the check reports a charge that left a debt", async () => {
      expect((await verify()).broken).toEqual({
        invariant: "charge_leaves_no_debt",
        detail: `workspace ${overdrawn}, entry 3: a charge left a balance of -50000`,
      });
    });

    test("the check reports a balance lower than refunds and disputes explain", async () => {
      const { sql } = database;
      await sql`UPDATE ledger_entries SET amount_nano = 190000, balance_after_nano = 190000 WHERE workspace_id = ${overdrawn} AND sequence = 1`;
      await sql`UPDATE ledger_entries SET amount_nano = -40000 WHERE workspace_id = ${overdrawn} AND sequence = 2`;
      const { broken } = await verify();
      expect(broken).toEqual({
        invariant: "overdraft_explained",
        detail: `workspace ${overdrawn}, entry 3: a balance of -50000 where refunds and disputes explain -40000`,
      });
      await control.expect("POST", "/credit", { body: { workspace: "overdrawn", usd: "1", ref: "too late" } });
      expect((await verify()).broken).toEqual(broken);
    });
  });
});
