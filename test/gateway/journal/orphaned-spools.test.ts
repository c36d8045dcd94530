import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GenerationJournal, type TakenOver } from "../../../src/gateway/journal/journal.ts";
import { adoptOrphanedSpools, adoptOrphanedSpoolsUntilStopped } from "../../../src/gateway/journal/orphaned-spools.ts";
import { decodeOpenReport, encodeReportRequest } from "../../../src/gateway/journal/open-report.ts";
import { decodeSettlements, encodeSettled } from "../../../src/gateway/journal/settlement.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { ManualClock, settled } from "../../support/clock.ts";
import { FakeBus } from "../../support/servers/fake-bus.ts";
import { endOf } from "../../support/test-gateway.ts";
import { reservation } from "../../support/gateway/intents.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let home: TemporaryFolder;
let clock: ManualClock;
let bus: FakeBus;
let released: string[];
/** Workspaces whose counters may lack the dead gateway's admissions, with the time of the last one. */
let reloaded: [string, number][];
/** Folders whose owner is alive. */
let living: Set<string>;
let locked: string[];
beforeEach(async () => {
  home = await temporaryFolder();
  clock = new ManualClock();
  bus = new FakeBus();
  [released, reloaded, living, locked] = [[], [], new Set(), []];
});
afterEach(() => home[Symbol.asyncDispose]());

const parts = () => ({
  bus,
  clock,
  log: silentLog,
  dataDir: home.path,
  takeOver: ({ pendingAdmissions, admitted }: TakenOver) => {
    released.push(...pendingAdmissions.map(({ generation }) => generation));
    reloaded.push(...admitted);
  },
  blocks: { settled: () => {} },
  async lockFolder(folder: string): Promise<AsyncDisposable | null> {
    if (living.has(folder) || locked.includes(folder)) return null;
    locked.push(folder);
    return { [Symbol.asyncDispose]: async () => void locked.splice(locked.indexOf(folder), 1) };
  },
});

/** One round, and the minute in which the adopted admissions count in rate windows. */
async function adopted(): Promise<number> {
  const adopting = adoptOrphanedSpools(parts(), new AbortController().signal);
  await clock.pass(60_000);
  return adopting;
}

/** A gateway that ended one generation, left a second one open, requested a third one, and died. */
function deadGateway(name: string): { settled: string; unknown: string; pending: string } {
  const journal = new GenerationJournal({ bus: new FakeBus(), clock, log: silentLog, folder: join(home.path, name, "spool") });
  const facts = { fingerprint: "f0", model: "acme/one", streamed: false };
  const [ended, open, requested] = [reservation(), reservation(), reservation()];
  journal.recordIntents([{ workspace: "ws-1", generation: requested.generation }]);
  void journal.begin(ended, facts);
  void journal.begin(open, facts);
  void journal.end(endOf(ended, { promptTokens: 1, completionTokens: 1 }));
  journal[Symbol.dispose]();
  return { settled: ended.generation, unknown: open.generation, pending: requested.generation };
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

describe("the spool of a dead gateway", () => {
  test("another gateway publishes its settlements, ends the rest as unknown, releases pending admissions and removes the folder", async () => {
    const dead = deadGateway("gateway-3");
    meteringConfirms();
    expect(await adopted()).toBe(1);
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
    expect(released).toEqual([dead.pending]);
    expect(reloaded).toEqual([["ws-1", reservation().admittedAt]]);
    expect(existsSync(join(home.path, "gateway-3", "spool"))).toBe(false);
    expect(locked).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(await adopted()).toBe(0);
  });

  test("its admissions count in rate windows for a minute: rebuilt counters include them", async () => {
    const dead = deadGateway("gateway-1");
    meteringConfirms();
    const stop = new AbortController();
    const adopting = adoptOrphanedSpoolsUntilStopped(parts(), stop.signal);
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
    await adopting;
    expect([locked, clock.pending]).toEqual([[], 0]);
  });

  test("it is left to another gateway if the adopting process ends within that minute", async () => {
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

  test("no gateway adopts it while its owner is alive", async () => {
    deadGateway("gateway-1");
    living.add(join(home.path, "gateway-1"));
    expect(await adopted()).toBe(0);
    expect(readdirSync(join(home.path, "gateway-1", "spool")).length).toBe(1);
    expect(bus.stored).toEqual([]);
  });

  test("it is kept completely if the ledger does not confirm in time", async () => {
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

  test("an unreadable spool does not stop the adoption of others", async () => {
    mkdirSync(join(home.path, "gateway-1", "spool", "0000000001.jsonl"), { recursive: true });
    deadGateway("gateway-2");
    meteringConfirms();
    expect(await adopted()).toBe(1);
    expect(locked).toEqual([]);
  });

  test("the gateway ignores folders that are not spools", async () => {
    mkdirSync(join(home.path, "postgres", "spool"), { recursive: true });
    mkdirSync(join(home.path, "gateway-1"));
    writeFileSync(join(home.path, "gateway-2"), "a file");
    expect(await adopted()).toBe(0);
  });

  test("a gateway finds it when it starts: its predecessor may have adopted it and died", async () => {
    const dead = deadGateway("gateway-1");
    meteringConfirms();
    const stop = new AbortController();
    const adopting = adoptOrphanedSpoolsUntilStopped(parts(), stop.signal);
    await settled();
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
    stop.abort();
    await adopting;
  });

  test("a gateway finds it within ten seconds, and stops looking when the process ends", async () => {
    meteringConfirms();
    const stop = new AbortController();
    const adopting = adoptOrphanedSpoolsUntilStopped(parts(), stop.signal);
    await clock.pass(10_000);
    const dead = deadGateway("gateway-1");
    await clock.pass(10_000);
    await settled();
    expect(outcomes()).toEqual({ [dead.settled]: "settled", [dead.unknown]: "unknown" });
    stop.abort();
    await adopting;
    expect(clock.pending).toBe(0);
  });
});
