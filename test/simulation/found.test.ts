/** Seeds that once found a mistake. They tell of it for as long as the workload draws the same chances; unit tests keep it beyond that. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { judge } from "./judge.ts";
import { StoredLedgers } from "./stored.ts";

const found: [seed: number, mistake: string][] = [
  [1131, "two reports of one gateway, between which an admission was in neither: counters were rebuilt without its hold"],
];

let stored: StoredLedgers;
beforeAll(async () => void (stored = await StoredLedgers.open()), 30_000);
afterAll(() => stored[Symbol.asyncDispose]());

test.each(found)("seed %d: %s", async (seed) => {
  const [verdict] = await judge([seed], stored);
  expect(verdict?.failure).toBeNull();
});
