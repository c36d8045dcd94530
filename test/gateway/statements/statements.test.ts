/** Statements: what a month's slice of the ledger holds, when it closes, and that it stays as it closed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { startClosing } from "../../../src/gateway/statements/close.ts";
import { hashedDocument, type StatementDocument } from "../../../src/gateway/statements/schema.ts";
import { selectLines } from "../../../src/gateway/statements/slice-store.ts";
import { rollUpUsage } from "../../../src/gateway/usage/roll-up.ts";
import { ManualClock } from "../../support/clock.ts";
import { Control } from "../../support/control.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { Closer } from "../../support/statements/closer.ts";
import { until } from "../../support/until.ts";
import { LedgerHistory, withoutTriggers } from "../../support/statements/ledger-history.ts";

describe.each(oneDatabase)("statements on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  let workspace: string;
  let key: string;
  let history: LedgerHistory;
  let closer: Closer;

  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
    workspace = await control.workspace("w");
    key = (await control.key("w", { name: "job" })).id;
    history = new LedgerHistory(database.sql, workspace);
    closer = new Closer(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const ended = (admittedAt: string, facts: Partial<Settlement> = {}) =>
    settlement({ workspace, key, admittedAt: Date.parse(admittedAt), ...facts });
  const stored = () => database.sql<{ number: string; document: string; sha256: string }[]>`
    SELECT number, document, sha256 FROM usage_statements WHERE workspace_id = ${workspace} ORDER BY number`;
  const documents = async (): Promise<StatementDocument[]> => (await stored()).map(({ document }) => JSON.parse(document));
  const verify = () => verifyLedger({ sql: database.sql });

  test("a month stays open for 25 minutes, while one of its requests is open, and while metering lags", async () => {
    await history.enter("2026-08-03T00:00:00Z", { kind: "credit", nano: 1_000_000_000n, reference: "invoice 1" });
    const tiered = { model: "acme/tiered", tierAboveTokens: 200_000 };
    await history.book("2026-08-10T12:00:01Z", ended("2026-08-10T12:00:00Z"), ended("2026-08-10T12:00:00Z", tiered));
    // The last request of the month ends after it, at the same time as the first of the next.
    await history.book("2026-09-01T00:01:00Z", ended("2026-08-31T23:59:59.999Z"), ended("2026-09-01T00:00:00Z"));
    await history.book("2026-09-01T00:02:00Z", ended("2026-09-01T00:01:59Z"));

    expect(await closer.closeAt("2026-09-01T00:24:59.999Z")).toBe(0);
    expect(await stored()).toHaveLength(0);
    closer.openMonths = ["2026-08"];
    expect(await closer.closeAt("2026-09-01T00:25:00Z")).toBe(1);
    closer.openMonths = ["2026-09"];
    closer.backlog = 65;
    expect(await closer.closeAt("2026-09-01T00:25:00Z")).toBe(1);
    expect(await stored()).toHaveLength(0);
    closer.backlog = 64;
    expect(await closer.closeAt("2026-09-01T00:25:00Z")).toBe(0);
    expect(await stored()).toHaveLength(1);
    closer.openMonths = [];
  });

  test("three months with late charges, a refund and a dispute chain without a gap and reconcile", async () => {
    await history.book("2026-09-05T00:00:00Z", ended("2026-08-20T00:00:00Z"), ended("2026-09-04T23:59:00Z"));
    await history.enter("2026-09-10T00:00:00Z", { kind: "refund", nano: -100_000_000n, reference: "refund 1" });
    await history.enter("2026-10-02T00:00:00Z", { kind: "dispute", nano: -250_000_000n, reference: "dispute 1" });
    await history.enter("2026-10-03T00:00:00Z", { kind: "credit", nano: 500_000_000n, reference: "invoice 2" });
    await history.book("2026-10-31T12:00:00Z", ended("2026-10-31T11:59:59Z"));
    await history.book("2026-11-01T00:10:00Z", ended("2026-11-01T00:09:00Z"));
    // Two processes find two months to close at once.
    await Promise.all([closer.closeAt("2026-11-01T00:25:00Z"), closer.closeAt("2026-11-01T00:25:00Z")]);
    await closer.closeAt("2026-11-01T00:25:00Z");
    await rollUpUsage({ sql: database.sql, clock: new ManualClock(Date.UTC(2026, 10, 2)) });

    const all = await documents();
    expect(all.map((one) => [one.number, one.ledger.from_seq, one.ledger.to_seq])).toEqual([
      ["2026-08", 1, 3],
      ["2026-09", 4, 6],
      ["2026-10", 7, 9],
    ]);
    const amounts = all.map((one) => [one.opening_balance_usd, one.charges_usd, one.closing_balance_usd]);
    expect(amounts).toEqual([
      ["0.000000000", "0.000800000", "0.999200000"],
      ["0.999200000", "0.000600000", "0.898600000"],
      ["0.898600000", "0.000200000", "1.148400000"],
    ]);
    expect(all.map((one) => [one.of_previous_month_usd, one.of_next_month_usd])).toEqual([
      ["0.000000000", "0.000200000"],
      ["0.000200000", "0.000000000"],
      ["0.000000000", "0.000000000"],
    ]);
    expect(all[1]?.refunds).toEqual([{ at: "2026-09-10T00:00:00.000Z", kind: "refund", ref: "refund 1", usd: "0.100000000" }]);
    expect(all[2]?.refunds).toMatchObject([{ kind: "dispute", usd: "0.250000000" }]);
    expect(all[2]?.credits).toMatchObject([{ kind: "credit", ref: "invoice 2", usd: "0.500000000" }]);
    const { checked, broken } = await verify();
    expect(broken).toBeNull();
    expect(checked).toContainEqual({ invariant: "statement_matches_ledger", rows: 3 });
  });

  test("a line has the names of the time, and the price tier that was charged", async () => {
    const [august] = await documents();
    const line = { key_id: key, key_name: "job", member: "member@w", provider: "sandbox", endpoint: "chat" };
    const sums = { cached_tokens: 0, cache_write_tokens: 0 };
    expect(august?.lines).toEqual([
      {
        ...line,
        ...sums,
        model: "sandbox/echo",
        tier_above_tokens: null,
        requests: 3,
        prompt_tokens: 300,
        completion_tokens: 150,
        cost_usd: "0.000600000",
      },
      {
        ...line,
        ...sums,
        model: "acme/tiered",
        tier_above_tokens: 200_000,
        requests: 1,
        prompt_tokens: 100,
        completion_tokens: 50,
        cost_usd: "0.000200000",
      },
    ]);
  });

  test("the cheapest lines beyond the most are one line, whose names are null", async () => {
    const slice = { workspace, month: "2026-08", from: 1n, to: 3n };
    const lines = await database.sql.begin((tx) => selectLines({ slice, keys: null, untilMs: null, linesMax: 1 }, tx));
    expect(lines).toMatchObject([
      { model: "sandbox/echo", requests: 3n, cost: 600_000n, ofNext: 200_000n },
      { key: null, model: null, requests: 1n, promptTokens: 100n, cost: 200_000n, ofNext: 0n },
    ]);
  });

  test("the hash is SHA-256 of the document with sorted names and without spaces", async () => {
    const [row] = await stored();
    const sorted = JSON.stringify(JSON.parse(row?.document ?? ""), (_name, value) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? Object.fromEntries(
            Object.keys(value)
              .toSorted()
              .map((name) => [name, value[name]]),
          )
        : value,
    );
    expect(row?.document).toBe(sorted);
    expect(row?.sha256).toBe(createHash("sha256").update(sorted).digest("hex"));
  });

  test("the database refuses to change, delete or truncate a statement", async () => {
    const { sql } = database;
    for (const statement of [
      "UPDATE usage_statements SET number = number",
      "DELETE FROM usage_statements",
      "TRUNCATE usage_statements",
    ])
      expect(await sql.unsafe(statement).then(() => "done", String)).toContain("Usage statements are final");
  });

  test("metering closes a month within a minute after it may, and at once when it is asked to", async () => {
    const later = await control.workspace("later");
    await new LedgerHistory(database.sql, later).enter("2026-11-02T00:00:00Z", {
      kind: "credit",
      nano: 1n,
      reference: "invoice",
    });
    const clock = new ManualClock(Date.parse("2026-12-01T00:24:30Z"));
    const closed = async () => (await database.sql`SELECT FROM usage_statements WHERE number = '2026-11'`).length;
    const reopen = () => withoutTriggers(database.sql, (tx) => tx`DELETE FROM usage_statements WHERE number = '2026-11'`);
    const closing = startClosing(closer.parts(clock));
    await until(() => clock.pending === 1);
    expect(await closed()).toBe(0);
    clock.advance(60_000);
    await until(async () => (await closed()) === 2);
    await until(() => clock.pending === 1);
    await reopen();
    closer.ask();
    await until(async () => (await closed()) === 2);
    await closing[Symbol.asyncDispose]();
    await reopen();
  });

  /** Changes September as somebody who can write the database's files: the document, and with it the hash. */
  const forged = (change: (document: StatementDocument) => StatementDocument) => async () => {
    const [, september] = await documents();
    if (!september) throw new Error("There is no statement of September");
    const { text, sha256 } = hashedDocument(change(september));
    return database.sql`UPDATE usage_statements SET document = ${text}, sha256 = ${sha256} WHERE number = '2026-09'`;
  };
  const set = (words: string) => async () => database.sql.unsafe(`UPDATE usage_statements SET ${words} WHERE number = '2026-09'`);

  test.each([
    ["a byte of the document", set("document = replace(document, 'job', 'jab')"), "has not the hash"],
    ["the end of the document", set("document = document || ' '"), "has not the hash"],
    ["the hash", set("sha256 = repeat('0', 64)"), "has not the hash"],
    ["its first entry", set("from_sequence = 5"), "begins with entry 5, and the one before ends with entry 3"],
    ["its opening balance", set("opening_nano = opening_nano + 1, closing_nano = closing_nano + 1"), "opens with 999200001"],
    ["its sum", set("closing_nano = closing_nano + 1"), "is not 898600001"],
    ["its refunds and charges", set("refunds_nano = refunds_nano - 1, charges_nano = charges_nano + 1"), "refunds of 99999999"],
    [
      "a line and the hash",
      forged((one) => ({ ...one, lines: one.lines.map((line) => ({ ...line, cost_usd: "0.000600001" })) })),
      "its lines add up to 600001 of 3 requests, its entries to 600000 of 3",
    ],
    ["an amount and the hash", forged((one) => ({ ...one, charges_usd: "0.000600001" })), "other amounts than its row"],
  ] as const)("`ledger verify` finds a change of %s", async (_what, harm, words) => {
    const { sql } = database;
    await sql`ALTER TABLE usage_statements DISABLE TRIGGER statements_are_final`;
    await sql`CREATE TABLE kept AS SELECT * FROM usage_statements WHERE number = '2026-09'`;
    await harm();
    const { broken } = await verify();
    await sql`DELETE FROM usage_statements WHERE number = '2026-09'`;
    await sql`INSERT INTO usage_statements SELECT * FROM kept`;
    await sql`DROP TABLE kept`;
    await sql`ALTER TABLE usage_statements ENABLE TRIGGER statements_are_final`;
    expect(broken).toMatchObject({ invariant: "statement_matches_ledger" });
    expect(broken?.detail).toContain(`workspace ${workspace}, statement 2026-09: `);
    expect(broken?.detail).toContain(words);
  });

  test("a month whose charges contradict its entries stays open, with an alarm; what retention deleted is a line of its own", async () => {
    const gone = ended("2026-11-15T00:00:00Z", { workspace, key });
    await history.book("2026-11-15T00:00:01Z", gone, ended("2026-11-15T00:00:00Z"));
    await withoutTriggers(database.sql, (tx) => tx`DELETE FROM generations WHERE generation_id = ${gone.generation}`);
    closer.logged.length = 0;
    expect(await closer.closeAt("2026-12-01T00:25:00Z")).toBe(1);
    expect(await stored()).toHaveLength(3);
    expect(closer.logged.join("")).toContain("statement.contradicted");

    await database.sql`INSERT INTO retained_entries (workspace_id, sequence) VALUES (${workspace}, 11)`;
    expect(await closer.closeAt("2026-12-01T00:25:00Z")).toBe(0);
    const november = (await documents()).at(-1);
    expect(november?.charges_usd).toBe("0.000600000");
    expect(november?.lines).toMatchObject([
      { model: "sandbox/echo", requests: 2, cost_usd: "0.000400000" },
      { model: null, key_name: null, requests: 1, prompt_tokens: 0, cost_usd: "0.000200000" },
    ]);
  });
});
