/** The move from the tables of the version before, while processes of both versions settle. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Database, Transaction } from "../../../src/backing/backing.ts";
import { migrate } from "../../../src/backing/migrate.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { chargeOf } from "../../../src/gateway/metering/booking.ts";
import { moveGenerations } from "../../../src/gateway/metering/move.ts";
import { oncePerGeneration } from "../../../src/gateway/metering/settle.ts";
import { settlementStore } from "../../../src/gateway/metering/store.ts";
import { verifyLedger } from "../../../src/gateway/metering/verify.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { newKeyId, newWorkspaceId } from "../../../src/kernel/ids.ts";
import { Control } from "../../support/control.ts";
import { failureOf } from "../../support/failure-of.ts";
import { formerStore } from "../../support/gateway/former/store.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { schemaDigest } from "../../support/servers/empty-database.ts";
import { failAt } from "../../support/servers/fail-at.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

const expand = "0016-generations.sql";
const nano = 1_000_000_000n;

describe.each(databases)("the move of older rows on $name", ({ name, openBefore, runsAll }) => {
  let database: TestDatabase;
  let sql: Database;
  let workspaces: string[];
  let keys: string[];
  afterEach(() => database[Symbol.asyncDispose]());

  /** A database of the version before, with credit for two workspaces. */
  beforeEach(async () => {
    database = await openBefore(expand);
    sql = database.sql;
    workspaces = [newWorkspaceId(1), newWorkspaceId(2)];
    keys = [newKeyId(1), newKeyId(2)];
    for (const workspace of workspaces) {
      await sql`INSERT INTO workspaces (id, name) VALUES (${workspace}, ${workspace})`;
      await sql`INSERT INTO credit_accounts (workspace_id, balance_nano, sequence) VALUES (${workspace}, ${nano}, 1)`;
      await sql`INSERT INTO ledger_entries VALUES (${workspace}, 1, 'credit', ${nano}, ${nano}, 'first')`;
    }
  });

  const ended = (n: number, fields: Partial<Settlement> = {}): Settlement =>
    settlement({
      workspace: workspaces[n % 2] ?? "",
      key: keys[n % 2] ?? "",
      admittedAt: Date.UTC(2026, 8 + (n % 3), 20, 12, n),
      ...fields,
    });
  const free = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const lost = (settled: Settlement): Settlement => ({ ...settled, outcome: "unknown", usage: free, status: 500 });
  const book = (store: ReturnType<typeof settlementStore>, ...list: Settlement[]) =>
    store.settle(oncePerGeneration(list).map(chargeOf));

  /** Rows of every kind: of three months, free, without an end, late, and of a month that is not that of the admission. */
  async function fill(): Promise<Settlement[]> {
    const store = formerStore(sql);
    const many = Array.from({ length: 12 }, (_, n) => ended(n));
    const late = ended(20);
    const others = [
      ended(21, { usage: free, status: 502, code: "upstream_error" }),
      lost(ended(22)),
      ended(23, { month: "2026-12" }),
    ];
    await book(store, ...many, lost(late));
    await book(store, late, ...others);
    return [...many, late, ...others];
  }

  const rows = async () => {
    const found = await sql`
      SELECT generation_id, outcome, cost_nano, excess_nano, late, workspace_id, key_id, model, status, admitted_at, request_id,
        coalesce(month, to_char(admitted_at AT TIME ZONE 'UTC', 'YYYY-MM')) AS month
      FROM generations ORDER BY generation_id`;
    return found.map((row) => ({ ...row }));
  };
  const formerRows = async () => {
    const found = await sql`
      SELECT generation_id, outcome, charges.cost_nano, excess_nano, late, charges.workspace_id, charges.key_id, model, status,
        log.at AS admitted_at, request_id, month
      FROM charges JOIN request_log AS log USING (generation_id) ORDER BY generation_id`;
    return found.map((row) => ({ ...row }));
  };
  const move = (finish: boolean) => moveGenerations({ sql, clock: systemClock }, { finish });
  const broken = async () => (await verifyLedger({ sql })).broken;

  test("every row is moved with its charge and its entry, and the older tables stay until the finish", async () => {
    await fill();
    const before = await formerRows();
    await migrate(sql);
    expect(String(await failureOf(verifyLedger({ sql })))).toContain("still being moved");
    expect(await move(false)).toEqual({ moved: 16, total: 16, finished: false });
    expect(await rows()).toEqual(before);
    expect(await formerRows()).toEqual(before);
    expect(await broken()).toBeNull();
    expect(await move(true)).toEqual({ moved: 0, total: 0, finished: true });
    expect(await sql`SELECT to_regclass('charges') AS charges, to_regclass('request_log') AS log`).toMatchObject([
      { charges: null, log: null },
    ]);
    expect(await rows()).toEqual(before);
    expect(await broken()).toBeNull();
    expect(await move(true)).toEqual({ moved: 0, total: 0, finished: true });
  });

  if (!runsAll) return;

  test("a database whose move is finished has the schema of a new one", async () => {
    const functions = async () => [
      ...(await sql`SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY proname, prosrc`),
    ];
    await fill();
    await migrate(sql);
    await move(true);
    const finished = { digest: await schemaDigest(sql), functions: await functions() };
    await sql.unsafe("DROP SCHEMA public CASCADE; CREATE SCHEMA public").simple();
    await migrate(sql);
    expect(finished).toEqual({ digest: await schemaDigest(sql), functions: await functions() });
  });

  test("a new database has nothing to move", async () => {
    await sql.unsafe("DROP SCHEMA public CASCADE; CREATE SCHEMA public").simple();
    await migrate(sql);
    expect(await sql`SELECT to_regclass('charges') AS charges`).toMatchObject([{ charges: null }]);
    expect(await move(false)).toEqual({ moved: 0, total: 0, finished: true });
  });

  test("processes of both versions charge a generation once, whichever has it first, before, during and after the move", async () => {
    const settled = await fill();
    await migrate(sql);
    const [older, newer] = [formerStore(sql), settlementStore(sql)];
    const [first, second, third, fourth] = [ended(30), ended(31), ended(32), ended(33)];
    await book(newer, ...settled, first);
    await book(older, second, lost(third));
    await book(newer, second, third, lost(fourth));
    expect(await move(false)).toMatchObject({ finished: false });
    await book(older, fourth, ended(34));
    await book(newer, ...settled, fourth, ended(35));
    expect(String(await failureOf(book(older, first)))).toContain("generations_2026_");
    expect(await broken()).toBeNull();
    const ends = new Map((await rows()).map(({ generation_id: id, outcome, late }) => [String(id), { outcome, late }]));
    expect([first, second, third, fourth].map(({ generation }) => ends.get(generation))).toEqual([
      { outcome: "settled", late: false },
      { outcome: "settled", late: false },
      { outcome: "settled", late: true },
      { outcome: "settled", late: true },
    ]);
    await move(true);
    await book(newer, first, fourth, ended(36));
    expect(await broken()).toBeNull();
  });

  test("an older process refuses a charge that this version booked in place of an unknown end", async () => {
    await migrate(sql);
    const [older, newer] = [formerStore(sql), settlementStore(sql)];
    const charged = ended(40);
    await book(older, lost(charged));
    await book(newer, charged);
    // A violated constraint: metering sets the settlement aside and charges the others.
    expect(await failureOf(book(older, charged))).toMatchObject({ code: "23505" });
    await move(false);
    expect(await rows()).toMatchObject([{ generation_id: charged.generation, outcome: "settled", late: true }]);
    expect(await broken()).toBeNull();
  });

  test("a charge whose part of the log was dropped is moved with its money", async () => {
    await fill();
    await sql`DELETE FROM request_log WHERE at < '2026-10-01'`;
    await migrate(sql);
    const charges = await sql`SELECT generation_id, cost_nano, month FROM charges ORDER BY generation_id`;
    await move(true);
    expect(await rows()).toMatchObject([...charges]);
    expect((await rows()).filter(({ status }) => status === 0)).toHaveLength(5);
    expect(await broken()).toBeNull();
  });

  test("settlement goes on while the migration waits for a long transaction", async () => {
    if (name === "the embedded database") return;
    await fill();
    const reader = await sql.reserve();
    await reader`BEGIN`;
    await reader`SELECT count(*) FROM charges`;
    const migrated = migrate(sql);
    const isWaiting = async () =>
      (await sql`SELECT FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = 'charges'::regclass AND NOT granted`)
        .length > 0;
    await until(isWaiting);
    await book(formerStore(sql), ended(50));
    await reader`COMMIT`;
    reader.release();
    expect(await migrated).toContain(expand);
    await move(false);
    expect(await rows()).toHaveLength(17);
    expect(await broken()).toBeNull();
  });

  test("an older process settles without reading the whole ledger of a workspace", async () => {
    const [workspace = ""] = workspaces;
    await sql`INSERT INTO ledger_entries SELECT ${workspace}, n, 'credit', 1, ${nano} + n - 1, n FROM generate_series(2, 20000) AS n`;
    await sql`UPDATE credit_accounts SET sequence = 20000, balance_nano = ${nano} + 19999 WHERE workspace_id = ${workspace}`;
    await sql`ANALYZE`;
    await migrate(sql);
    let read = 0;
    const rowsRead = async (tx: Transaction) => {
      const [row] = await tx<{ rows: bigint }[]>`
        SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = 'ledger_entries'`;
      return Number(row?.rows);
    };
    const counted = {
      begin: (work: (tx: Transaction) => Promise<unknown>) =>
        sql.begin(async (tx) => {
          // What the connection read just before, such as for an index, may still be counted here.
          const before = await rowsRead(tx);
          const booked = await work(tx);
          read = (await rowsRead(tx)) - before;
          return booked;
        }),
    } as Database;
    await book(formerStore(counted), ...Array.from({ length: 100 }, (_, n) => ended(2 * n)));
    expect(read).toBe(100);
    await move(false);
    expect(await broken()).toBeNull();
  });

  test("a process that waits while another moves reports each state once", async () => {
    if (name === "the embedded database") return;
    await fill();
    await migrate(sql);
    const other = await sql.reserve();
    await other`SELECT pg_advisory_lock(hashtext('generations move'))`;
    let waits = 0;
    const clock = { ...systemClock, after: (ms: number, callback: () => void) => (waits++, systemClock.after(ms, callback)) };
    const states: number[] = [];
    const moved = moveGenerations({ sql, clock }, { finish: false, onMoved: (state) => void states.push(state.moved) });
    await until(() => waits > 3);
    await other`SELECT pg_advisory_unlock(hashtext('generations move'))`;
    other.release();
    expect(await moved).toMatchObject({ moved: 16, total: 16 });
    expect(states).toEqual([0, 16]);
  });

  test("a move in many batches that is killed at any statement goes on where it was", async () => {
    await fill();
    const before = await formerRows();
    await migrate(sql);
    let kills = 0;
    for (let n = 1; ; n++) {
      const failing = { sql: failAt(sql, n), clock: systemClock, batchMax: 5 };
      const failure = await moveGenerations(failing, { finish: true }).then(() => null, String);
      if (failure === null) break;
      expect(failure).toContain("killed");
      kills++;
    }
    expect(kills).toBeGreaterThan(8);
    expect(await rows()).toEqual(before);
    expect(await broken()).toBeNull();
    expect(await move(true)).toMatchObject({ finished: true });
  });

  test("no month is deleted before the older tables are dropped, since their processes write into all months", async () => {
    await fill();
    await migrate(sql);
    const retain = () => new Control(sql).call("POST", "/log/retain", { body: { months: 2 } });
    expect(await retain()).toMatchObject({ status: 409, body: { error: { code: "conflict" } } });
    await move(false);
    const { status, body } = await retain();
    expect([status, JSON.stringify(body)]).toEqual([409, expect.stringContaining("migrate rows --finish")]);
    await move(true);
    expect(await retain()).toMatchObject({ status: 200 });
  });

  test("batches of any size move each row once", async () => {
    await fill();
    const before = await formerRows();
    await migrate(sql);
    const states: number[] = [];
    const parts = { sql, clock: systemClock, batchMax: 5 };
    await moveGenerations(parts, { finish: false, onMoved: ({ moved }) => void states.push(moved) });
    expect(states).toEqual([0, 5, 10, 15, 16]);
    expect(await rows()).toEqual(before);
    expect(await broken()).toBeNull();
  });

  test("both versions settle while rows are moved", async () => {
    // The embedded database has one connection, and one version.
    if (name === "the embedded database") return;
    await fill();
    await migrate(sql);
    const [older, newer] = [formerStore(sql), settlementStore(sql)];
    const writers = [older, newer].flatMap((store, which) =>
      Array.from({ length: 3 }, async (_, writer) => {
        for (let n = 0; n < 15; n++) await book(store, ended(1_000 * (1 + which) + 100 * writer + n), ended(writer + n + 500));
      }),
    );
    await Promise.all([...writers, move(false)]);
    expect(await broken()).toBeNull();
    expect(await rows()).toHaveLength(16 + 2 * 3 * 15 * 2);
  });
});
