import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pino } from "pino";
import { CountersUnavailableError } from "../../../src/backing/counters.ts";
import { holdMs } from "../../../src/backing/limits.ts";
import { loadAccount } from "../../../src/gateway/credit/load.ts";
import { beginEpochs } from "../../../src/gateway/credit/store.ts";
import { encodeOpenReport } from "../../../src/gateway/journal/open-report.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { ledgerReplayLagMs, ledgerReplayMs } from "../../../src/gateway/limits.ts";
import {
  sweep,
  startSweeps,
  replayWhatIsDue,
  startReplays,
  reconcile,
  startReconciliation,
} from "../../../src/gateway/metering/maintenance.ts";
import { makeMonthsAhead } from "../../../src/gateway/metering/store.ts";
import { consumeSettlements } from "../../../src/gateway/metering/worker.ts";
import { Control } from "../../support/control.ts";
import { event, TestMetering } from "../../support/gateway/metering.ts";
import { settlement, book } from "../../support/gateway/settlements.ts";
import { openEmbeddedDatabase, type TestDatabase, oneDatabase, databases } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

const usd = 1_000_000_000n;
const reserved = 1_000_000n;
const cost = 200_000n;

describe("the sweeper", () => {
  let database: TestDatabase;
  let control: Control;
  let number = 0;
  beforeAll(async () => {
    database = await openEmbeddedDatabase();
    control = new Control(database.sql);
  }, 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  /** New workspaces with one open hold each, and a metering that consumes their settlements. */
  async function open(workspaces = 1, admittedAt?: number) {
    const metering = new TestMetering(database.sql);
    await consumeSettlements(metering);
    const held: Settlement[] = [];
    for (let left = workspaces; left > 0; left--) {
      const name = `w${++number}`;
      const workspace = await control.workspace(name, "1");
      const key = (await control.key(name)).id;
      const ended = settlement({
        workspace,
        key,
        reserved: reserved.toString(),
        ...(admittedAt !== undefined && { admittedAt }),
      });
      held.push(ended);
      const { generation, month } = ended;
      const deadline = ended.admittedAt + holdMs;
      const hold = { generation, fingerprint: "f0", amount: reserved, key, month, admittedAt: ended.admittedAt, deadline };
      await metering.counters.load({
        account: { workspace, balance: usd, sequence: 1n, months: [] },
        holds: [hold],
        windows: [],
      });
    }
    const [one = settlement({ workspace: "", key: "" })] = held;
    const left = async () => (await Promise.all(held.map(({ workspace }) => metering.counters.holds(workspace)))).flat().length;
    return { metering, one, left };
  }

  const charge = async (generation: string) => [
    ...(await database.sql`SELECT outcome, cost_nano, late FROM generations WHERE generation_id = ${generation}`),
  ];

  test("the sweeper expires an unreported hold at its deadline, not before, and it is charged nothing", async () => {
    const { metering, one, left } = await open();
    metering.clock.advance(holdMs - 1);
    expect(await sweep(metering)).toBe(0);
    metering.clock.advance(1);
    expect(await sweep(metering)).toBe(1);
    await metering.bus.deliver();
    expect(await left()).toBe(0);
    expect(await charge(one.generation)).toEqual([{ outcome: "expired", cost_nano: 0n, late: false }]);
    expect(await sweep(metering)).toBe(0);
    expect(metering.bus.stored).toEqual([]);
  });

  test("a hold whose expiry cannot be booked is released, and the expiry is set aside once", async () => {
    await database.sql`INSERT INTO retained_months (month, generations) VALUES ('2019-01', 0)`;
    const { metering, one, left } = await open(1, Date.UTC(2019, 0, 15));
    metering.clock.advance(holdMs);
    expect(await sweep(metering)).toBe(1);
    await metering.bus.deliver();
    expect(await left()).toBe(0);
    expect(await sweep(metering)).toBe(0);
    expect(await database.sql`SELECT FROM dead_letters WHERE message_id = ${one.generation}`).toHaveLength(1);
  });

  test("the sweeper keeps a hold that a gateway reports", async () => {
    const { metering, one, left } = await open();
    const { workspace, generation, key, month, admittedAt } = one;
    const hold = { generation, fingerprint: "f0", amount: reserved, key, month, admittedAt, deadline: 0 };
    metering.bus.serveScatter("open-generations", (request) =>
      encodeOpenReport({ holds: new TextDecoder().decode(request).includes(workspace) ? [hold] : [], windows: [], blocks: [] }),
    );
    metering.clock.advance(10 * holdMs);
    expect(await sweep(metering)).toBe(0);
    expect(await left()).toBe(1);
  });

  test("an earlier settlement is charged before the expiry while metering lags", async () => {
    const { metering, one, left } = await open();
    metering.bus.stored.push(event([one]));
    metering.clock.advance(holdMs);
    await sweep(metering);
    await metering.bus.deliver();
    expect(await left()).toBe(0);
    expect(await charge(one.generation)).toEqual([{ outcome: "settled", cost_nano: cost, late: false }]);
  });

  test("the sweeper releases holds even while the stream never runs empty", async () => {
    const { metering, left } = await open();
    metering.bus.backlogNow = async () => ({ messages: 1_000 });
    metering.clock.advance(holdMs);
    await sweep(metering);
    await metering.bus.deliver();
    expect(await left()).toBe(0);
  });

  test("two sweeps publish one event while the first one waits", async () => {
    const { metering } = await open();
    metering.clock.advance(holdMs);
    await sweep(metering);
    await sweep(metering);
    expect(new Set(metering.bus.stored.map(({ id }) => id)).size).toBe(1);
  });

  test("an expired generation is charged when its settlement comes late, and flagged as late", async () => {
    const { metering, one } = await open();
    metering.clock.advance(holdMs);
    await sweep(metering);
    await metering.bus.deliver();
    await metering.settle([one]);
    expect(await charge(one.generation)).toEqual([{ outcome: "settled", cost_nano: cost, late: true }]);
    expect(await metering.counters.read(one.workspace, null)).toMatchObject({ account: { balance: usd - cost, reserved: 0n } });
  });

  test("a failure of one workspace does not stop the sweep of the others", async () => {
    const { metering, one, left } = await open(3);
    metering.clock.advance(holdMs);
    const overdue = metering.counters.overdue.bind(metering.counters);
    metering.counters.overdue = (workspace, limit) =>
      workspace === one.workspace ? Promise.reject(new CountersUnavailableError("its slot is lost")) : overdue(workspace, limit);
    expect(await sweep(metering)).toBe(2);
    await metering.bus.deliver();
    expect(await left()).toBe(1);
  });

  test("the sweeper runs every ten seconds until the worker ends, despite failures", async () => {
    const { metering, left } = await open();
    metering.clock.advance(holdMs);
    const { scatter } = metering.bus;
    metering.bus.scatter = () => Promise.reject(new Error("the bus is down"));
    const sweeping = startSweeps(metering);
    await passUntil(metering, () => metering.clock.monotonic() >= holdMs + 20_000);
    expect(await left()).toBe(1);
    metering.bus.scatter = scatter;
    await passUntil(metering, () => metering.bus.stored.length > 0);
    await metering.bus.deliver();
    expect(await left()).toBe(0);
    await sweeping[Symbol.asyncDispose]();
    expect(metering.clock.pending).toBe(0);
  });
});

/** Advances the clock in steps, each with a wait for the database, which runs in real time. */
async function passUntil({ clock, sql }: TestMetering, condition: () => boolean): Promise<void> {
  for (let step = 0; step < 100 && !condition(); step++) {
    await clock.pass(1_000);
    await sql`SELECT 1`;
  }
  if (!condition()) throw new Error("The condition did not hold within 100 seconds of the test's clock");
}

/** Metering books settlements again once the database is a different server. */

describe.each(oneDatabase)("replays on $name", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await open()), 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  const server = async () => (await database.sql<{ server: bigint }[]>`SELECT server FROM ledger_replays`)[0]?.server;

  /** The next round finds another server. */
  async function toNextServer({ clock }: TestMetering): Promise<void> {
    await database.sql`UPDATE ledger_replays SET server = 1`;
    await clock.pass(ledgerReplayMs);
    await until(async () => (await server()) !== 1n && clock.pending > 0);
  }

  test("a backup of a database that no metering had seen yet gets all that the stream has, as a new database does", async () => {
    const metering = new TestMetering(database.sql);
    expect(await server()).toBeUndefined();
    await using _replays = startReplays(metering);
    await until(async () => (await server()) !== undefined && metering.clock.pending > 0);
    expect(metering.bus.replays).toEqual([null]);
    await metering.clock.pass(ledgerReplayMs);
    expect(metering.bus.replays).toEqual([null]);
  });

  test("another server gets what was stored since shortly before, and an older backup what came after its newest generation", async () => {
    const metering = new TestMetering(database.sql);
    const control = new Control(database.sql);
    const workspace = await control.workspace("restored", "1");
    const key = (await control.key("restored")).id;
    await using _replays = startReplays(metering);
    await until(() => metering.clock.pending > 0);
    const seenAt = metering.clock.now();
    const dayBefore = seenAt - 86_400_000;
    await book(database.sql, settlement({ workspace, key, admittedAt: dayBefore }));
    await toNextServer(metering);
    await book(database.sql, settlement({ workspace, key, admittedAt: seenAt }));
    const seenAgainAt = metering.clock.now();
    await toNextServer(metering);
    expect(seenAgainAt).toBeGreaterThan(seenAt);
    await book(database.sql, settlement({ workspace, key, admittedAt: seenAgainAt + 3_600_000 }));
    const seenLastAt = metering.clock.now();
    await toNextServer(metering);
    expect(metering.bus.replays).toEqual([dayBefore, seenAt, seenLastAt].map((at) => at - ledgerReplayLagMs));
  });

  test("a restart after which nothing is behind leaves no word of recovery in the log", async () => {
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line: string) => void lines.push(line) });
    const metering = Object.assign(new TestMetering(database.sql), { log });
    await database.sql`UPDATE ledger_replays SET server = 1`;
    await replayWhatIsDue(null, new AbortController().signal, metering);
    expect([metering.bus.replays, lines]).toEqual([[null], []]);
  });

  test("while another process books again, this one waits", async () => {
    const metering = new TestMetering(database.sql);
    let asked = 0;
    metering.lock = (name) => (asked++, expect(name).toBe("weir replays"), Promise.resolve(null));
    await database.sql`UPDATE ledger_replays SET server = 1`;
    await using _replays = startReplays(metering);
    await until(() => asked > 0 && metering.clock.pending > 0);
    metering.lock = () => Promise.resolve(new AsyncDisposableStack());
    expect(metering.bus.replays).toEqual([]);
    await metering.clock.pass(ledgerReplayMs);
    await until(() => metering.bus.replays.length === 1);
  });

  test("a workspace whose ledger is behind is loaded only when all that the stream has was booked again", async () => {
    const metering = new TestMetering(database.sql);
    const workspace = await new Control(database.sql).workspace("behind", "1");
    // Its admission worker died before it forgot the counters.
    await metering.counters.load({
      account: { workspace, balance: 7n, sequence: 9n, months: [] },
      holds: [],
      windows: [],
    });
    await beginEpochs([{ workspace, after: 0n, epoch: 1n, isRebuilding: true }], database.sql);
    const isReady = async () => (await loadAccount({ workspace, generations: [] }, database.sql))?.isReady === true;
    expect(await isReady()).toBe(false);
    await using _replays = startReplays(metering);
    await until(isReady);
    expect(metering.bus.replays).toEqual([null]);
    expect((await metering.counters.read(workspace, null)).account).toBeNull();
  });
});

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
