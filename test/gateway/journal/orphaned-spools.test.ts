import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GenerationJournal } from "../../../src/gateway/journal/journal.ts";
import { adoptOrphanedSpools, adoptOrphanedSpoolsUntilStopped } from "../../../src/gateway/journal/orphaned-spools.ts";
import { decodeOpenReport, encodeReportRequest } from "../../../src/gateway/journal/open-report.ts";
import { decodeSettlements, encodeSettled } from "../../../src/gateway/journal/settlement-codec.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";
import { endOf } from "../../support/test-gateway.ts";
import { reservation } from "../../support/gateway/intents.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let home: TemporaryFolder;
let clock: ManualClock;
let bus: FakeBus;
let given: string[];
/** Folders with a living owner. */
let living: Set<string>;
let locked: string[];
beforeEach(async () => {
  home = await temporaryFolder();
  clock = new ManualClock();
  bus = new FakeBus();
  [given, living, locked] = [[], new Set(), []];
});
afterEach(() => home[Symbol.asyncDispose]());

const parts = () => ({
  bus,
  clock,
  log: silentLog,
  dataDir: home.path,
  release: (_workspace: string, generation: string) => void given.push(generation),
  async lockFolder(folder: string): Promise<AsyncDisposable | null> {
    if (living.has(folder) || locked.includes(folder)) return null;
    locked.push(folder);
    return { [Symbol.asyncDispose]: async () => void locked.splice(locked.indexOf(folder), 1) };
  },
});

/** One round, and the minute in which what it took over still counts. */
async function adopted(): Promise<number> {
  const adopting = adoptOrphanedSpools(parts(), new AbortController().signal);
  await clock.pass(60_000);
  return adopting;
}

/** A gateway that ended one generation, left one open, asked for a third, and died. */
function deadGateway(name: string): { settled: string; unknown: string; undecided: string } {
  const journal = new GenerationJournal({ bus: new FakeBus(), clock, log: silentLog, folder: join(home.path, name, "spool") });
  const facts = { fingerprint: "f0", model: "acme/one", streamed: false };
  const [ended, open, asked] = [reservation(), reservation(), reservation()];
  journal.recordIntents([{ workspace: "ws-1", generation: asked.generation }]);
  void journal.begin(ended, facts);
  void journal.begin(open, facts);
  void journal.end(endOf(ended, { promptTokens: 1, completionTokens: 1 }));
  journal[Symbol.dispose]();
  return { settled: ended.generation, unknown: open.generation, undecided: asked.generation };
}

function meteringConfirms(): void {
  const { store } = bus;
  bus.store = async (event) => {
    await store(event);
    setImmediate(() => bus.broadcast("settled", encodeSettled([decodeSettlements(event.payload).batch])));
  };
}

const outcomes = () =>
  Object.fromEntries(
    bus.stored
      .flatMap(({ payload }) => decodeSettlements(payload).settlements)
      .map(({ generation, outcome }) => [generation, outcome]),
  );

describe("the spool of a gateway that died", () => {
  test("is emptied by another: ends are published, the rest is unknown, what it asked for is given up, the folder is gone", async () => {
    const dead = deadGateway("gateway-3");
    meteringConfirms();
    expect(await adopted()).toBe(1);
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
    expect(given).toEqual([dead.undecided]);
    expect(existsSync(join(home.path, "gateway-3", "spool"))).toBe(false);
    expect(locked).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(await adopted()).toBe(0);
  });

  test("counts in its keys' windows for a minute: who rebuilds the counters is told of its admissions", async () => {
    const dead = deadGateway("gateway-1");
    meteringConfirms();
    const stop = new AbortController();
    const looking = adoptOrphanedSpoolsUntilStopped(parts(), stop.signal);
    await clock.pass(10_000);
    await clock.pass(59_000);
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
    const { workspace, key, admittedAt } = reservation();
    const reports = await bus.scatter("open-generations", encodeReportRequest({ workspace }));
    const windows = reports.map(decodeOpenReport).flatMap((report) => report.windows);
    expect(windows).toEqual([{ key, times: [admittedAt, admittedAt] }]);
    expect(existsSync(join(home.path, "gateway-1", "spool"))).toBe(true);
    await clock.pass(1_000);
    expect(existsSync(join(home.path, "gateway-1", "spool"))).toBe(false);
    stop.abort();
    await looking;
    expect([locked, clock.pending]).toEqual([[], 0]);
  });

  test("is left to the next who looks where the process ends within that minute", async () => {
    deadGateway("gateway-1");
    meteringConfirms();
    const stop = new AbortController();
    const adopting = adoptOrphanedSpools(parts(), stop.signal);
    await clock.pass(30_000);
    stop.abort();
    expect(await adopting).toBe(0);
    expect([locked, clock.pending]).toEqual([[], 0]);
    expect(readdirSync(join(home.path, "gateway-1", "spool")).length).toBeGreaterThan(0);
  });

  test("is left alone while its owner lives", async () => {
    deadGateway("gateway-1");
    living.add(join(home.path, "gateway-1"));
    expect(await adopted()).toBe(0);
    expect(readdirSync(join(home.path, "gateway-1", "spool")).length).toBe(1);
    expect(bus.stored).toEqual([]);
  });

  test("stays, with all that was in it, where the ledger does not confirm in time", async () => {
    const dead = deadGateway("gateway-1");
    const adopting = adoptOrphanedSpools(parts(), new AbortController().signal);
    await clock.pass(30_000);
    expect(await adopting).toBe(0);
    expect(clock.pending).toBe(0);
    bus.stored = [];
    meteringConfirms();
    expect(await adopted()).toBe(1);
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
  });

  test("that cannot be read keeps no other from being emptied", async () => {
    mkdirSync(join(home.path, "gateway-1", "spool", "0000000001.jsonl"), { recursive: true });
    deadGateway("gateway-2");
    meteringConfirms();
    expect(await adopted()).toBe(1);
    expect(locked).toEqual([]);
  });

  test("is nothing where there is only something else", async () => {
    mkdirSync(join(home.path, "postgres", "spool"), { recursive: true });
    mkdirSync(join(home.path, "gateway-1"));
    writeFileSync(join(home.path, "gateway-2"), "a file");
    expect(await adopted()).toBe(0);
  });

  test("is found within ten seconds, and looking for it ends when the process does", async () => {
    meteringConfirms();
    const stop = new AbortController();
    const looking = adoptOrphanedSpoolsUntilStopped(parts(), stop.signal);
    await clock.pass(10_000);
    const dead = deadGateway("gateway-1");
    await clock.pass(10_000);
    await settled();
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
    stop.abort();
    await looking;
    expect(clock.pending).toBe(0);
  });
});
