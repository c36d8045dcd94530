/** Simulates the whole protocol under faults in virtual time: the real code of gateways, workers and metering, over simulated parts. */
import { beforeAll, expect, test } from "bun:test";
import { judge } from "./judge.ts";
import { sharedStored } from "./world/shared-stored.ts";
import type { StoredLedgers } from "./world/stored.ts";
import { addTally, type Tally } from "./tally.ts";

let stored: StoredLedgers;
beforeAll(async () => void (stored = await sharedStored()), 30_000);

const seeds = Array.from({ length: 75 }, (_, index) => index + 1);

test("no invariant is broken in 75 runs with losses, delays, crashes, frozen parts and changed settings", async () => {
  const total: Tally = {};
  // The database verifies the ledgers of many runs at nearly the cost of one.
  for (const { tally, failure } of await judge(seeds, stored)) {
    expect(failure).toBeNull();
    addTally(total, tally);
  }
  const features = ["timed out", "charged timeouts", "on own keys", "embeddings", "completions", "other payers", "other models"];
  // Faults and outcomes that never occur prove nothing.
  const agents = ["messages", "responses", "told costs"];
  const keys = ["keys in progress", "keys spent", "keys with another body"];
  const cards = ["automatic payments", "card payments", "declined cards", "taken back"];
  for (const what of [
    "faults",
    "messages harmed",
    "charged",
    "charged late",
    "expired",
    "cut",
    ...features,
    ...agents,
    ...keys,
    ...cards,
  ]) {
    expect([what, (total[what] ?? 0) > 0]).toEqual([what, true]);
  }
  const checks = Object.entries(total).filter(([name]) => name.startsWith("I-"));
  expect(checks.filter(([, count]) => count === 0)).toEqual([]);
}, 180_000);

test("a seed always gives the same history, also after other seeds", async () => {
  const hashes = async () => (await judge([7, 8, 10], stored)).map(({ hash }) => hash);
  const first = await hashes();
  await judge([4], stored);
  expect(await hashes()).toEqual(first);
  expect(new Set(first).size).toBe(3);
});
