import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../src/backing/counters.ts";
import { reconcile, startReconciliation } from "../../../src/gateway/metering/reconcile.ts";
import { createLogPartitions } from "../../../src/gateway/metering/maintenance-store.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { TestMetering } from "../../support/gateway/metering.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";
import { until } from "../../support/until.ts";

const noon = Date.UTC(2026, 10, 20, 12);

describe.each(databases)("maintenance of metering on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const partitions = async () =>
    (
      await database.sql<{ name: string; rows: bigint }[]>`
      SELECT child.relname AS name, (SELECT count(*) FROM request_log WHERE tableoid = child.oid) AS rows
      FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = 'request_log'::regclass ORDER BY 1`
    ).map(({ name, rows }) => [name, Number(rows)]);

  test("reconciliation pushes the ledger's heads and the month's totals, which repairs lost pushes", async () => {
    const metering = new TestMetering(database.sql);
    const workspace = await control.workspace("pushed", "1");
    const { id: key } = await control.key("pushed");
    const months = [{ month: "2026-11", spent: 0n }];
    await metering.counters.load({
      account: { workspace, balance: 1_000_000_000n, sequence: 1n, months },
      holds: [],
      windows: [],
    });
    await book(database.sql, settlement({ workspace, key }));
    await reconcile(metering);
    expect(await metering.counters.read(workspace, null)).toMatchObject({ account: { balance: 999_800_000n, sequence: 2n } });
  });

  test("maintenance creates the log's partitions of this month and the next, and moves earlier rows into them", async () => {
    const workspace = await control.workspace("logged", "1");
    const { id: key } = await control.key("logged");
    await book(
      database.sql,
      settlement({ workspace, key, admittedAt: noon }),
      settlement({ workspace, key, admittedAt: Date.UTC(2026, 9, 1) }),
    );
    const before = await database.sql`SELECT * FROM request_log ORDER BY generation_id`;
    await createLogPartitions(noon, database.sql);
    await createLogPartitions(noon, database.sql);
    const names = await partitions();
    expect(names.map(([name]) => name)).toEqual(["request_log_2026_11", "request_log_2026_12", "request_log_default"]);
    expect(Object.fromEntries(names)).toMatchObject({ request_log_2026_12: 0, request_log_default: 1 });
    expect([...(await database.sql`SELECT * FROM request_log ORDER BY generation_id`)]).toEqual([...before]);
    await book(database.sql, settlement({ workspace, key, admittedAt: Date.UTC(2026, 11, 31, 23, 59, 59, 999) }));
    expect(Object.fromEntries(await partitions())).toMatchObject({ request_log_2026_12: 1, request_log_default: 1 });
  });

  test("maintenance creates a month's partition while rows of that month are written", async () => {
    const workspace = await control.workspace("busy", "1");
    const { id: key } = await control.key("busy");
    const january = Date.UTC(2027, 0, 10);
    let isDone = false;
    let booked = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isDone) {
        await book(database.sql, settlement({ workspace, key, admittedAt: january }));
        booked++;
      }
    });
    try {
      await until(() => booked > 10);
      await createLogPartitions(january, database.sql);
      const before = booked;
      await until(() => booked > before + 10);
    } finally {
      isDone = true;
      await Promise.all(writers);
    }
    expect(Object.fromEntries(await partitions())).toMatchObject({ request_log_2027_01: booked });
  });

  test("maintenance runs every minute until the worker ends, despite failures", async () => {
    const metering = new TestMetering(database.sql);
    const { now } = metering.counters;
    let reads = 0;
    metering.counters.now = () => (reads++, Promise.reject(new CountersUnavailableError("Redis is down")));
    const reconciling = startReconciliation(metering);
    await until(() => reads === 1 && metering.clock.pending === 1);
    metering.clock.advance(60_000);
    await until(() => reads === 2 && metering.clock.pending === 1);
    metering.counters.now = now;
    await reconciling[Symbol.asyncDispose]();
    expect(metering.clock.pending).toBe(0);
  });
});
