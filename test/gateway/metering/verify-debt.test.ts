import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";

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
    let name: string;
    let overdrawn: string;
    let late: Settlement;

    /** Rows as older versions wrote them, before charges were limited to reservation and balance. */
    beforeAll(async () => {
      name = "overdrawn";
      overdrawn = await control.workspace(name, "0.0002");
      const spender = (await control.key(name)).id;
      late = settlement({ workspace: overdrawn, key: spender });
      await book(database.sql, late);
      const { sql } = database;
      await sql`UPDATE ledger_entries SET amount_nano = 150000, balance_after_nano = 150000 WHERE workspace_id = ${overdrawn} AND sequence = 1`;
      await sql`UPDATE ledger_entries SET balance_after_nano = -50000 WHERE workspace_id = ${overdrawn} AND sequence = 2`;
      await sql`UPDATE credit_accounts SET balance_nano = -50000 WHERE workspace_id = ${overdrawn}`;
      await sql`UPDATE generations SET late = true WHERE generation_id = ${late.generation}`;
    });

    const wasBefore = (excess: number | null, isLate: boolean) =>
      database.sql`UPDATE generations SET excess_nano = ${excess}, late = ${isLate} WHERE generation_id = ${late.generation}`;

    test("the check reports a charge that left a debt", async () => {
      const { broken } = await verify();
      expect(broken).toEqual({
        invariant: "charge_leaves_no_debt",
        detail: `workspace ${overdrawn}, entry 2: a charge left a balance of -50000`,
      });
    });

    test("a late charge of an older version explains it", async () => {
      await wasBefore(null, true);
      expect(await verify()).toMatchObject({ ok: true });
    });

    test("the check reports a balance lower than late charges explain", async () => {
      await wasBefore(null, false);
      const { broken } = await verify();
      expect(broken).toEqual({
        invariant: "overdraft_explained",
        detail: `workspace ${overdrawn}, entry 2: a balance of -50000 where late charges, charges above their reservation, refunds and disputes explain 0`,
      });
      await control.expect("POST", "/credit", { body: { workspace: name, usd: "1", ref: "too late" } });
      expect((await verify()).broken).toEqual(broken);
    });
  });
});
