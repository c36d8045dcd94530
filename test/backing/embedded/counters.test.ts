import { expect, test } from "bun:test";
import { EmbeddedCounters } from "../../../src/backing/embedded/counters.ts";
import { claimMs } from "../../../src/backing/limits.ts";
import { monthOf } from "../../../src/kernel/clock.ts";
import { ManualClock } from "../../support/clock.ts";
import { request } from "../../contracts/counters/calls.ts";
import { describeCounters } from "../../contracts/counters.ts";
import { openEmbeddedHarness } from "../../support/counters/embedded.ts";

describeCounters("counters in Maps", openEmbeddedHarness);

test("after a burst, claims in Maps are dropped once they no longer count, though no other follows", async () => {
  const clock = new ManualClock();
  const counters = new EmbeddedCounters(clock);
  const month = monthOf(clock.now());
  const account = { workspace: "w1", balance: 1_000n, sequence: 1n, months: [{ month, spent: 0n }] };
  const held = { claim: "c1", generation: "gen-1" };
  await counters.load({ account, holds: [], windows: [], claims: [held] });
  const kept = (): number => {
    const claims = counters.workspaces.get("w1")?.claims;
    return (claims?.newer.size ?? 0) + (claims?.older.size ?? 0);
  };
  const askOther = () => counters.admitMany({ month, requests: [request({ workspace: "w2" })] });
  await clock.advance(claimMs);
  await askOther();
  expect(kept()).toBe(1);
  await clock.advance(claimMs + 1);
  await askOther();
  expect(kept()).toBe(0);
});
