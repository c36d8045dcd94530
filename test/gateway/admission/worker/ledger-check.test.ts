/** A database that went back in time, with newer counters: the check finds it before an admission and repairs it. */
import { beforeEach, expect, test } from "bun:test";
import { LedgerCheck } from "../../../../src/gateway/admission/worker/ledger-check.ts";
import { loadWorkspace } from "../../../../src/gateway/admission/worker/loads.ts";
import { CountersUnavailableError } from "../../../../src/backing/counters.ts";
import { EmbeddedCounters } from "../../../../src/backing/embedded/counters.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import { ledgerCheckMs, ledgerCheckBatchMs, ledgerServerMs } from "../../../../src/gateway/limits.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { backUp } from "../../../support/ledger/copy-ledger.ts";
import { MemoryLedger } from "../../../support/gateway/memory-ledger.ts";
import { alarmsRaised } from "../../../support/gateway/stored-money.ts";
import { FakeBus } from "../../../support/servers/fake-bus.ts";

let clock: ManualClock;
let counters: EmbeddedCounters;
let ledger: MemoryLedger;
/** How often positions were read; null: the database does not answer. */
let reads: number | null;
let check: LedgerCheck;
beforeEach(async () => {
  clock = new ManualClock();
  counters = new EmbeddedCounters(clock);
  ledger = new MemoryLedger().open("w1", 500n);
  reads = 0;
  check = newCheck();
  await load("w1");
});

function newCheck(): LedgerCheck {
  const answering = async <T>(answer: () => Promise<T>): Promise<T> => {
    if (reads === null) throw new Error("the database does not answer");
    return await answer();
  };
  const store: ConstructorParameters<typeof LedgerCheck>[0]["store"] = {
    positions: (counted) =>
      answering(() => {
        reads = (reads ?? 0) + 1;
        return ledger.positions(counted);
      }),
    beginEpochs: (starts) => answering(() => ledger.beginEpochs(starts)),
    server: () => answering(() => ledger.server()),
  };
  return new LedgerCheck({ bus: { broadcast: () => {} }, counters, store, clock, log: silentLog });
}

/** Checks a workspace and loads its counters, as its first request does. */
async function load(...workspaces: string[]): Promise<void> {
  expect((await check.unusable(workspaces)).size).toBe(0);
  for (const workspace of workspaces)
    await loadWorkspace({ workspace, month: "2026-11" }, { bus: new FakeBus(), counters, store: ledger });
}

const balance = async () => (await counters.read("w1", null)).account?.balance;
const unusable = async (one = check) => [...(await one.unusable(["w1"]))];
const nextServer = (): void => clock.advance(2 * ledgerServerMs);

/** The ledger gets 100 more, which the counters know and a restored backup lacks. */
async function goBack(): Promise<void> {
  const restore = backUp(ledger);
  ledger.append("w1", 100n);
  await counters.resolveMany({ resolve: [], accounts: [ledger.head("w1", "2026-11")], keyMonths: [] });
  expect(await balance()).toBe(600n);
  restore();
}

test("the check returns a workspace whose part of the counters does not answer, and no other", async () => {
  ledger.open("w2", 500n);
  await load("w2");
  check = newCheck();
  const { read } = counters;
  counters.read = (workspace, key) =>
    workspace === "w2" ? Promise.reject(new CountersUnavailableError("its shard is down")) : read.call(counters, workspace, key);
  expect([...(await check.unusable(["w1", "w2"]))]).toEqual(["w2"]);
  counters.read = read;
  expect((await check.unusable(["w2"])).size).toBe(0);
});

test("a workspace whose ledger went back is refused until its settlements are booked again, and an alarm says so", async () => {
  const before = await alarmsRaised("ledger.went_back");
  await goBack();
  nextServer();
  expect(await unusable()).toEqual(["w1"]);
  expect(await balance()).toBeUndefined();
  expect(await unusable()).toEqual(["w1"]);
  expect(await alarmsRaised("ledger.went_back")).toBe(before + 1);
  await expect(load("w1")).rejects.toThrow();
  ledger.epochs.finishReplay({ server: ledger.epochs.server, rebuilding: ["w1"] });
  await load("w1");
  expect(await balance()).toBe(500n);
});

test("a ledger that went back is still found when the database fails or goes back again before the loss is noted in it", async () => {
  await goBack();
  ledger.epochs.replayedOn = ledger.epochs.server;
  nextServer();
  const { beginEpochs } = ledger;
  ledger.beginEpochs = () => Promise.reject(new Error("the database went away"));
  expect(await unusable()).toEqual(["w1"]);
  ledger.beginEpochs = beginEpochs;
  backUp(ledger)();
  ledger.epochs.replayedOn = ledger.epochs.server;
  nextServer();
  expect(await unusable(newCheck())).toEqual(["w1"]);
  expect(await ledger.replayDue()).toMatchObject({ rebuilding: ["w1"] });
  expect(await balance()).toBeUndefined();
});

test("a push from before the ledger went back changes nothing once the counters are loaded again", async () => {
  const late = { ...ledger.head("w1", "2026-11"), balance: 999n };
  await goBack();
  nextServer();
  await unusable();
  ledger.epochs.finishReplay({ server: ledger.epochs.server, rebuilding: ["w1"] });
  await load("w1");
  await counters.resolveMany({ resolve: [], accounts: [{ ...late, sequence: late.sequence + 5n }], keyMonths: [] });
  expect(await balance()).toBe(500n);
});

test("a ledger that has reached the same number again with another entry is told from the one that the counters know", async () => {
  await goBack();
  ledger.append("w1", 7n);
  nextServer();
  expect(await unusable()).toEqual(["w1"]);
});

test("another server with the whole ledger is compared before the next request, and raises no alarm", async () => {
  const before = await alarmsRaised("ledger.went_back");
  backUp(ledger)();
  nextServer();
  expect(await unusable()).toEqual([]);
  expect(await balance()).toBeUndefined();
  await load("w1");
  expect(await balance()).toBe(500n);
  expect(await alarmsRaised("ledger.went_back")).toBe(before);
});

test("a backup of before the first comparison leaves no counters with totals that it lacks, in the same epoch", async () => {
  ledger.open("w2", 500n);
  const restore = backUp(ledger);
  await load("w2");
  restore();
  nextServer();
  expect((await check.unusable(["w2"])).size).toBe(0);
  expect((await counters.read("w2", null)).account).toBeNull();
  expect(ledger.epochs.of("w2")).toBe(0n);
});

test("a workspace without counters is refused on another server until metering has looked for lost settlements", async () => {
  ledger.epochs.replayedOn = ledger.epochs.server;
  counters = new EmbeddedCounters(clock);
  backUp(ledger)();
  nextServer();
  const emptied = newCheck();
  expect(await unusable(emptied)).toEqual(["w1"]);
  ledger.epochs.finishReplay({ server: ledger.epochs.server, rebuilding: [] });
  expect(await unusable(emptied)).toEqual([]);
});

test("two workers that find another server at once both go on", async () => {
  const other = newCheck();
  await unusable(other);
  backUp(ledger)();
  nextServer();
  expect(await Promise.all([unusable(), unusable(other)])).toEqual([[], []]);
  expect(ledger.epochs.of("w1")).toBe(1n);
});

test("a request that waits for a question of before, which the former server left unanswered, asks the next one", async () => {
  const { promise, reject } = Promise.withResolvers<bigint>();
  await goBack();
  nextServer();
  const { server } = ledger;
  ledger.server = () => promise;
  const first = unusable();
  clock.advance(1);
  const second = unusable();
  ledger.server = server;
  reject(new Error("the former server is gone"));
  await first;
  expect(await second).toEqual(["w1"]);
});

test("the check changes nothing when the ledger is equal to its counters or ahead of them", async () => {
  for (const more of [0n, 50n]) {
    if (more > 0n) ledger.append("w1", more);
    clock.advance(2 * ledgerCheckMs);
    expect(await unusable()).toEqual([]);
    expect(await balance()).toBe(500n);
  }
});

test("the check refuses a workspace whose ledger cannot be read, and goes on with one that was checked just before", async () => {
  const other = newCheck();
  reads = null;
  nextServer();
  expect(await unusable(other)).toEqual(["w1"]);
  expect(await unusable()).toEqual([]);
  reads = 0;
  expect(await unusable(other)).toEqual([]);
});

test("the check finds a ledger that went back on the same server within half a minute, in the background", async () => {
  await unusable();
  expect(reads).toBe(1);
  await goBack();
  ledger.epochs.server--;
  clock.advance(ledgerCheckMs);
  await unusable();
  await clock.pass(ledgerCheckBatchMs);
  await settled();
  expect(await balance()).toBeUndefined();
  expect(await unusable()).toEqual(["w1"]);
});

test("the check reads all due workspaces by one statement", async () => {
  const names = Array.from({ length: 50 }, (_, number) => `many ${number}`);
  for (const name of names) ledger.open(name, 1n);
  reads = 0;
  await load(...names);
  expect(reads).toBe(1);
  clock.advance(ledgerCheckMs);
  for (const name of names) await check.unusable([name]);
  await clock.pass(ledgerCheckBatchMs);
  await settled();
  expect(reads).toBe(2);
});

test("the check makes requests wait for a workspace that was unused for a minute", async () => {
  await goBack();
  ledger.epochs.server--;
  clock.advance(2 * ledgerCheckMs);
  expect(await unusable()).toEqual(["w1"]);
});
