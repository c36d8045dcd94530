/** Seeds that once found a mistake. They tell of it for as long as the workload draws the same chances; unit tests keep it beyond that. */
import { beforeAll, expect, test } from "bun:test";
import { judge } from "./judge.ts";
import { sharedStored } from "./shared-stored.ts";
import type { StoredLedgers } from "./stored.ts";

const found: [seed: number, mistake: string][] = [
  [1131, "two reports of one gateway, between which an admission was in neither: counters were rebuilt without its hold"],
];

let stored: StoredLedgers;
beforeAll(async () => void (stored = await sharedStored()), 30_000);

test.each(found)("seed %d: %s", async (seed) => {
  const [verdict] = await judge([seed], stored);
  expect(verdict?.failure).toBeNull();
});
