import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../src/backing/counters.ts";
import { reconcile, startReconciliation } from "../../../src/gateway/metering/reconcile.ts";
import { makeMonthsAhead } from "../../../src/gateway/metering/months-store.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { Control } from "../../support/control.ts";
import { databases, type TestDatabase } from "../../support/servers/databases.ts";
import { TestMetering } from "../../support/gateway/metering.ts";
import { book, settlement } from "../../support/gateway/settlements.ts";
import { until } from "../../support/until.ts";

describe.each(databases)("maintenance of metering on $name", ({ open }) => {
  let database: TestDatabase;
  let control: Control;
  beforeAll(async () => {
    database = await open();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const months = async () =>
    (
      await database.sql<{ name: string }[]>`
      SELECT child.relname AS name
      FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid WHERE inhparent = 'generations'::regclass ORDER BY 1`
    ).map(({ name }) => name.replace("generations_", ""));

  /** Where the row of a generation lies. */
  const monthOfRow = async ({ generation }: Settlement) => {
    const [row] = await database.sql<{ name: string }[]>`
      SELECT tableoid::regclass::text AS name FROM generations WHERE generation_id = ${generation}`;
    return row?.name.replace("generations_", "");
  };

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

  test("maintenance makes the partitions of this month and the next", async () => {
    await makeMonthsAhead(Date.UTC(2031, 11, 20), database.sql);
    await makeMonthsAhead(Date.UTC(2031, 11, 20), database.sql);
    expect((await months()).filter((month) => month >= "2031")).toEqual(["2031_12", "2032_01"]);
  });

  test("a row lies in the partition of its id's month, from the first millisecond to the last", async () => {
    const workspace = await control.workspace("logged", "1");
    const { id: key } = await control.key("logged");
    const start = Date.UTC(2026, 11, 1);
    const end = Date.UTC(2027, 0, 1);
    const ended = [start - 1, start, end - 1, end].map((admittedAt) => settlement({ workspace, key, admittedAt }));
    await book(database.sql, ...ended);
    expect(await Promise.all(ended.map(monthOfRow))).toEqual(["2026_11", "2026_12", "2026_12", "2027_01"]);
  });

  test("a month's partition is made while rows of other months are written", async () => {
    const workspace = await control.workspace("busy", "1");
    const { id: key } = await control.key("busy");
    let isDone = false;
    let booked = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isDone) {
        await book(database.sql, settlement({ workspace, key }));
        booked++;
      }
    });
    try {
      await until(() => booked > 10);
      await Promise.all([0, 1].map(() => makeMonthsAhead(Date.UTC(2029, 4, 10), database.sql)));
      const before = booked;
      await until(() => booked > before + 10);
    } finally {
      isDone = true;
      await Promise.all(writers);
    }
    expect(await months()).toEqual(expect.arrayContaining(["2029_05", "2029_06"]));
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
