import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { CountersUnavailableError } from "../../../src/backing/counters.ts";
import { encodeOpenReport } from "../../../src/gateway/journal/open-report.ts";
import type { Settlement } from "../../../src/gateway/journal/settlement.ts";
import { holdMs } from "../../../src/backing/limits.ts";
import { sweep, startSweeps } from "../../../src/gateway/metering/sweep.ts";
import { consumeSettlements } from "../../../src/gateway/metering/worker.ts";
import { Control } from "../../support/control.ts";
import { openEmbeddedDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { event, TestMetering } from "../../support/gateway/metering.ts";
import { settlement } from "../../support/gateway/settlements.ts";

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
