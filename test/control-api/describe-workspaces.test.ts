import { expect, test } from "bun:test";
import { describeWorkspaces } from "../../src/control-api/endpoints/workspaces.ts";
import { positionsAtOnceMax, positionsMsMax } from "../../src/control-api/limits.ts";
import type { WorkspaceRow } from "../../src/accounts/workspaces/store.ts";
import { ManualClock } from "../support/clock.ts";

const rows = Array.from({ length: 5 * positionsAtOnceMax }, (_, index): WorkspaceRow => ({
  id: `ws-${index}`,
  name: `workspace ${index}`,
  enabled: true,
  spendLimit: null,
  dailySpendLimit: null,
  fallbacks: true,
  zeroDataRetention: false,
  promptStorage: false,
  promptRetentionDays: null,
  costInAnswers: false,
  idempotentReplay: false,
  ownKeyFallback: false,
  earlyAccess: [],
  balance: BigInt(index),
  monthSpent: 0n,
  daySpent: null,
}));

/** Counters that need `ms` for each round of requests, and the number of concurrent requests. */
function counters(clock: ManualClock, ms: number) {
  const state = { asked: 0, waiting: 0, mostAtOnce: 0 };
  const position = async (workspace: string) => {
    state.asked++;
    state.mostAtOnce = Math.max(state.mostAtOnce, ++state.waiting);
    await Promise.resolve();
    if (state.waiting-- === 1) clock.advance(ms);
    const balance = BigInt(workspace.slice(3));
    return { balance, reserved: 1n, available: balance - 1n, keySpent: null, month: "2026-11" };
  };
  return { state, position };
}

test("a list reads the counters of a bounded number of workspaces at once, and keeps its order", async () => {
  const clock = new ManualClock();
  const { state, position } = counters(clock, 1);
  const views = await describeWorkspaces(rows, { clock, position });
  expect(views.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(views.every(({ reserved_usd }) => reserved_usd === "0.000000001")).toBe(true);
  expect(state).toEqual({ asked: rows.length, waiting: 0, mostAtOnce: positionsAtOnceMax });
});

test("after its deadline a list shows the rest with the ledger's balance only", async () => {
  const clock = new ManualClock();
  const { state, position } = counters(clock, positionsMsMax / 2 + 1);
  const views = await describeWorkspaces(rows, { clock, position });
  expect(state.asked).toBe(2 * positionsAtOnceMax);
  expect(views).toHaveLength(rows.length);
  expect(views.at(-1)).toMatchObject({ balance_usd: "0.000000319", reserved_usd: null, available_usd: null });
});
