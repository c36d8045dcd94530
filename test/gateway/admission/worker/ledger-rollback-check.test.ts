/** A database that was restored beside counters that were not: found before anything is admitted, and made good. */
import { beforeEach, expect, test } from "bun:test";
import { LedgerRollbackCheck } from "../../../../src/gateway/admission/worker/ledger-rollback-check.ts";
import type { LoadStore } from "../../../../src/gateway/admission/worker/load.ts";
import { EmbeddedCounters } from "../../../../src/backing/embedded/counters.ts";
import { silentLog } from "../../../../src/kernel/log.ts";
import { ledgerCheckMs, ledgerCheckBatchMs } from "../../../../src/gateway/limits.ts";
import { ManualClock, settled } from "../../../support/clock.ts";
import { alarmsRaised } from "../../../support/stored-money.ts";

let clock: ManualClock;
let counters: EmbeddedCounters;
/** Of the ledger; null: the database does not answer. */
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

function fence(): LedgerRollbackCheck {
  const heads: LoadStore["heads"] = async (workspaces) => {
    reads++;
    const sequence = head;
    if (sequence === null) throw new Error("the database does not answer");
    return new Map(workspaces.map((workspace) => [workspace, sequence]));
  };
  return new LedgerRollbackCheck({ counters, store: { heads }, clock, log: silentLog });
}

const isKnown = async () => (await counters.read("w1", null)).account !== null;

test("a ledger behind its counters has them forget the workspace, and raises an alarm", async () => {
  const before = await alarmsRaised("ledger.went_back");
  head = 3n;
  await fence().unchecked(["w1"]);
  expect(await isKnown()).toBe(false);
  expect(await alarmsRaised("ledger.went_back")).toBe(before + 1);
});

test("a ledger that is as far as its counters, or ahead of a push, changes nothing", async () => {
  for (head of [7n, 9n]) {
    await fence().unchecked(["w1"]);
    expect(await isKnown()).toBe(true);
  }
});

test("a workspace of which the database cannot tell is refused, and no other", async () => {
  head = null;
  const on = fence();
  expect([...(await on.unchecked(["w1", "w2"]))]).toEqual(["w1"]);
  head = 7n;
  expect((await on.unchecked(["w1"])).size).toBe(0);
  expect(await isKnown()).toBe(true);
});

test("one that is restored under a running fleet is found within half a minute, and nobody waits for the look", async () => {
  const on = fence();
  await on.unchecked(["w1", "w1"]);
  await on.unchecked(["w1"]);
  expect(reads).toBe(1);
  head = 3n;
  clock.advance(ledgerCheckMs);
  await on.unchecked(["w1"]);
  await clock.pass(ledgerCheckBatchMs);
  await settled();
  expect(await isKnown()).toBe(false);
});

test("many that are due are one question to the database", async () => {
  const names = Array.from({ length: 50 }, (_, number) => `many ${number}`);
  for (const workspace of names) {
    await counters.load({ account: { workspace, balance: 1n, sequence: 7n, months: [] }, holds: [], windows: [] });
  }
  const on = fence();
  await on.unchecked(names);
  expect(reads).toBe(1);
  clock.advance(ledgerCheckMs);
  for (const name of names) await on.unchecked([name]);
  await clock.pass(ledgerCheckBatchMs);
  await settled();
  expect(reads).toBe(2);
});

test("one that was not used for a minute is waited for again", async () => {
  const on = fence();
  await on.unchecked(["w1"]);
  clock.advance(2 * ledgerCheckMs);
  head = 3n;
  await on.unchecked(["w1"]);
  expect(await isKnown()).toBe(false);
});

test("a workspace that the counters do not know is not asked for in the ledger: it is loaded from there", async () => {
  await fence().unchecked(["w2"]);
  expect(reads).toBe(0);
});
