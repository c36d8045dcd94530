import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { loadAccount, readKeyMonth } from "../../../src/gateway/credit/load.ts";
import { newGenerationId } from "../../../src/kernel/ids.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";

describe.each(databases)("credit on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const add = (workspace: string, usd: string, ref: string) => ({ body: { workspace, usd, ref } });

  test("credit extends the workspace's chain without gaps, with a running balance", async () => {
    const workspace = await control.workspace("chain", "1");
    const { id: key } = await control.key("chain");
    await book(database.sql, settlement({ workspace, key }));
    const credit = await control.expect("POST", "/credit", add("chain", "0.000000001", "payment 1"));
    expect(credit).toMatchObject({ balance_usd: "0.999800001" });
    const entries = await database.sql`
      SELECT sequence, kind, amount_nano, balance_after_nano, reference FROM ledger_entries WHERE workspace_id = ${workspace} ORDER BY sequence`;
    expect(entries.map((entry) => Object.values(entry).slice(0, 4))).toEqual([
      [1n, "credit", 1_000_000_000n, 1_000_000_000n],
      [2n, "charge", -200_000n, 999_800_000n],
      [3n, "credit", 1n, 999_800_001n],
    ]);
  });

  test("credit of the same reference is added once", async () => {
    await control.workspace("once");
    for (let times = 0; times < 3; times++) {
      expect(await control.expect("POST", "/credit", add("once", "5.0", "invoice 7"))).toMatchObject({
        balance_usd: "5.000000000",
      });
    }
    expect(await control.list("/audit?workspace=once&event=credit.added")).toEqual([
      expect.objectContaining({
        actor: "operator",
        role: "operator",
        target: "invoice 7",
        changes: { usd: { from: null, to: "5.000000000" } },
      }),
    ]);
  });

  test("credit of the same reference is added once by concurrent requests", async () => {
    await control.workspace("race");
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => control.expect("POST", "/credit", add("race", "2", "same"))),
    );
    expect(new Set(answers.map(({ balance_usd }) => balance_usd))).toEqual(new Set(["2.000000000"]));
    const others = Array.from({ length: 8 }, (_, index) => control.expect("POST", "/credit", add("race", "1", `other ${index}`)));
    await Promise.all(others);
    expect(await control.expect("GET", "/credit?workspace=race")).toMatchObject({ balance_usd: "10.000000000" });
    expect(await verifyLedger({ sql: database.sql })).toMatchObject({ ok: true });
  });

  test("the same reference with another amount is a conflict, but not in another workspace", async () => {
    await control.workspace("conflict", "1");
    await control.workspace("elsewhere");
    await control.expect("POST", "/credit", add("conflict", "5", "invoice 8"));
    expect(await control.refusal("POST", "/credit", add("conflict", "6", "invoice 8"))).toBe("409 conflict ref");
    expect(await control.expect("POST", "/credit", add("elsewhere", "6", "invoice 8"))).toMatchObject({
      balance_usd: "6.000000000",
    });
  });

  test("credit must be above zero, and a balance holds at most 9,000,000 USD", async () => {
    await control.workspace("bounds", "8999999.999999999");
    for (const usd of ["0", "-1", "x", "1e3", "0.0000000001", "9000001"]) {
      expect(await control.refusal("POST", "/credit", add("bounds", usd, usd))).toBe("400 invalid_field usd");
    }
    expect(await control.refusal("POST", "/credit", add("bounds", "0.000000002", "too much"))).toBe("409 conflict usd");
    const full = await control.expect("POST", "/credit", add("bounds", "0.000000001", "full"));
    expect(full).toMatchObject({ balance_usd: "9000000.000000000" });
  });

  test("the counters read the ledger again before the answer", async () => {
    const workspace = await control.workspace("counters");
    await control.expect("POST", "/credit", add("counters", "1", "pushed"));
    expect(control.refreshed.at(-1)).toBe(workspace);
  });

  describe("the account that counters load", () => {
    test("the account has balance, sequence, the newest months and the ended generations", async () => {
      const workspace = await control.workspace("load", "1");
      const { id: key } = await control.key("load");
      const times = [Date.UTC(2026, 8, 30), Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 1)];
      const settled = times.map((admittedAt) => settlement({ workspace, key, admittedAt }));
      await book(database.sql, ...settled);
      const generations = [...settled.map(({ generation }) => generation), newGenerationId(Date.UTC(2026, 10, 1))];
      expect(await loadAccount({ workspace, generations }, database.sql)).toEqual({
        account: {
          workspace,
          balance: 999_400_000n,
          sequence: 2n,
          months: [
            { month: "2026-11", spent: 200_000n },
            { month: "2026-10", spent: 200_000n },
          ],
        },
        isReady: true,
        ended: new Set(generations.slice(0, 3)),
      });
      const november = { workspace, key, month: "2026-11" };
      expect(await readKeyMonth(november, database.sql)).toEqual({ ...november, spent: 200_000n, version: 1n, sequence: 2n });
      const december = { workspace, key, month: "2026-12" };
      expect(await readKeyMonth(december, database.sql)).toEqual({ ...december, spent: 0n, version: 0n, sequence: 2n });
    });

    test("the account is empty for a new workspace and null for an unknown one", async () => {
      const workspace = await control.workspace("empty");
      expect(await loadAccount({ workspace, generations: [] }, database.sql)).toEqual({
        account: { workspace, balance: 0n, sequence: 0n, months: [] },
        isReady: true,
        ended: new Set(),
      });
      expect(await loadAccount({ workspace: "ws-none", generations: ["gen-none"] }, database.sql)).toBeNull();
    });
  });
});
