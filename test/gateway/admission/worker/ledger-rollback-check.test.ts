/** A restored database with newer counters: the check finds it before an admission and repairs it. */
import { beforeEach, expect, test } from "bun:test";
import { LedgerRollbackCheck } from "../../../../src/gateway/admission/worker/ledger-rollback-check.ts";
import type { LoadStore } from "../../../../src/gateway/admission/worker/load.ts";
import { CountersUnavailableError } from "../../../../src/backing/counters.ts";
import { EmbeddedCounters } from "../../../../src/backing/embedded/counters.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import { ledgerCheckMs, ledgerCheckBatchMs } from "../../../../src/gateway/limits.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { alarmsRaised } from "../../../support/gateway/stored-money.ts";

let clock: ManualClock;
let counters: EmbeddedCounters;
/** The ledger's sequence; null: the database does not answer. */
let head: bigint | null;
let reads: number;
beforeEach(async () => {
  clock = new ManualClock();
  counters = new EmbeddedCounters(clock);
  reads = 0;
  head = 7n;
  const account = { workspace: "w1", balance: 500n, sequence: 7n, months: [] };
  await counters.load({ account, holds: [], windows: [] });
});

function rollbackCheck(): LedgerRollbackCheck {
  const heads: LoadStore["heads"] = async (workspaces) => {
    reads++;
    const sequence = head;
    if (sequence === null) throw new Error("the database does not answer");
    return new Map(workspaces.map((workspace) => [workspace, sequence]));
  };
  return new LedgerRollbackCheck({ counters, store: { heads }, clock, log: silentLog });
}

const isKnown = async () => (await counters.read("w1", null)).account !== null;

test("the check makes counters ahead of their ledger forget the workspace, and raises an alarm", async () => {
  const before = await alarmsRaised("ledger.went_back");
  head = 3n;
  await rollbackCheck().unchecked(["w1"]);
  expect(await isKnown()).toBe(false);
  expect(await alarmsRaised("ledger.went_back")).toBe(before + 1);
});

test("the check changes nothing when the ledger is equal to its counters or ahead of them", async () => {
  for (head of [7n, 9n]) {
    await rollbackCheck().unchecked(["w1"]);
    expect(await isKnown()).toBe(true);
  }
});

test("the check returns a workspace whose ledger cannot be read, and no other", async () => {
  head = null;
  const check = rollbackCheck();
  expect([...(await check.unchecked(["w1", "w2"]))]).toEqual(["w1"]);
  head = 7n;
  expect((await check.unchecked(["w1"])).size).toBe(0);
  expect(await isKnown()).toBe(true);
});

test("the check returns a workspace whose part of the counters does not answer, and no other", async () => {
  const account = { workspace: "w2", balance: 500n, sequence: 7n, months: [] };
  await counters.load({ account, holds: [], windows: [] });
  const { read } = counters;
  counters.read = (workspace, key) =>
    workspace === "w2" ? Promise.reject(new CountersUnavailableError("its shard is down")) : read.call(counters, workspace, key);
  const check = rollbackCheck();
  expect([...(await check.unchecked(["w1", "w2"]))]).toEqual(["w2"]);
  counters.read = read;
  expect((await check.unchecked(["w2"])).size).toBe(0);
});

test("the check finds a ledger that is restored under a running fleet within half a minute, in the background", async () => {
  const check = rollbackCheck();
  await check.unchecked(["w1", "w1"]);
  await check.unchecked(["w1"]);
  expect(reads).toBe(1);
  head = 3n;
  clock.advance(ledgerCheckMs);
  await check.unchecked(["w1"]);
  await clock.pass(ledgerCheckBatchMs);
  await settled();
  expect(await isKnown()).toBe(false);
});

test("the check reads all due workspaces by one statement", async () => {
  const names = Array.from({ length: 50 }, (_, number) => `many ${number}`);
  for (const workspace of names) {
    await counters.load({ account: { workspace, balance: 1n, sequence: 7n, months: [] }, holds: [], windows: [] });
  }
  const check = rollbackCheck();
  await check.unchecked(names);
  expect(reads).toBe(1);
  clock.advance(ledgerCheckMs);
  for (const name of names) await check.unchecked([name]);
  await clock.pass(ledgerCheckBatchMs);
  await settled();
  expect(reads).toBe(2);
});

test("the check makes requests wait for a workspace that was unused for a minute", async () => {
  const check = rollbackCheck();
  await check.unchecked(["w1"]);
  clock.advance(2 * ledgerCheckMs);
  head = 3n;
  await check.unchecked(["w1"]);
  expect(await isKnown()).toBe(false);
});

test("the check skips workspaces absent from the counters, which are loaded from the ledger", async () => {
  await rollbackCheck().unchecked(["w2"]);
  expect(reads).toBe(0);
});
