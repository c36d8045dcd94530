/** Metering books settlements again once the database is another server than before. */
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { replayWhatIsDue, startReplays } from "../../../src/gateway/metering/replay.ts";
import { loadAccount } from "../../../src/gateway/credit/load.ts";
import { beginEpochs } from "../../../src/gateway/credit/positions-store.ts";
import { ledgerReplayLagMs, ledgerReplayMs } from "../../../src/gateway/limits.ts";
import { Control } from "../../support/control.ts";
import { TestMetering } from "../../support/gateway/metering.ts";
import { oneDatabase, type TestDatabase } from "../../support/servers/databases.ts";
import { until } from "../../support/until.ts";

describe.each(oneDatabase)("replays on $name", ({ open }) => {
  let database: TestDatabase;
  beforeAll(async () => void (database = await open()), 60_000);
  afterAll(() => database[Symbol.asyncDispose]());

  test("nothing is booked again on a new database, and on another server what was stored since shortly before", async () => {
    const metering = new TestMetering(database.sql);
    const server = async () => (await database.sql<{ server: bigint }[]>`SELECT server FROM ledger_replays`)[0]?.server;
    await using _replays = startReplays(metering);
    await until(async () => (await server()) !== undefined && metering.clock.pending > 0);
    const seenAt = metering.clock.now();
    expect(metering.bus.replays).toEqual([]);
    await database.sql`UPDATE ledger_replays SET server = 1`;
    await metering.clock.pass(ledgerReplayMs);
    await until(async () => (await server()) !== 1n);
    expect(metering.bus.replays).toEqual([seenAt - ledgerReplayLagMs]);
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
    await beginEpochs([{ workspace, after: 0n, epoch: 1n, isRebuilding: true }], database.sql);
    const isReady = async () => (await loadAccount({ workspace, generations: [] }, database.sql))?.isReady === true;
    expect(await isReady()).toBe(false);
    await using _replays = startReplays(metering);
    await until(isReady);
    expect(metering.bus.replays).toEqual([null]);
  });
});
