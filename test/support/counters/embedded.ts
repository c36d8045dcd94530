import { EmbeddedCounters } from "../../../src/backing/embedded/counters.ts";
import { unknownWorkspace } from "../../../src/backing/embedded/workspace-counters.ts";
import { ManualClock } from "../clock.ts";
import { budgetText, countedTimes, countersStartMs, holdText, type CountersHarness, type Dump } from "./harness.ts";

export async function openEmbeddedHarness(): Promise<CountersHarness> {
  const clock = new ManualClock(countersStartMs);
  let counters = new EmbeddedCounters(clock);
  return {
    get counters() {
      return counters;
    },
    now: () => clock.now(),
    advance: async (ms) => clock.advance(ms),
    wipe: async () => void (counters = new EmbeddedCounters(clock)),
    restart: async () => counters.workspaces.forEach((space) => (space.ready = false)),
    dump: async (workspace) => dumpEmbedded(counters, { workspace, clockMs: clock.now() }),
    [Symbol.asyncDispose]: () => counters[Symbol.asyncDispose](),
  };
}

/** A workspace's state in the in-process counters. */
export function dumpEmbedded(counters: EmbeddedCounters, { workspace, clockMs }: { workspace: string; clockMs: number }): Dump {
  const space = counters.workspaces.get(workspace) ?? unknownWorkspace();
  const totals: Dump["totals"] = {};
  for (const [key, months] of [["", space.months] as const, ...space.keyMonths]) {
    for (const [month, { spent, version, held }] of months) {
      if (spent === null && held === 0n) continue;
      totals[`${key}:${month}`] = { spent: spent?.toString() ?? null, version: String(version), held: String(held) };
    }
  }
  for (const [name, { since, spent, version, held }] of space.budgets) {
    totals[budgetText({ name, since })] = { spent: String(spent), version: String(version), held: String(held) };
  }
  const { ready, balance, sequence, reserved } = space;
  const holds = [...space.holds.values()];
  return {
    ready,
    account: { balance: String(balance), sequence: String(sequence), reserved: String(reserved) },
    totals,
    windows: countedTimes(
      [...space.logs].map(([key, log]) => [key, log.times]),
      clockMs,
    ),
    holds: Object.fromEntries(holds.map((hold) => [hold.generation, holdText(hold)])),
    deadlines: Object.fromEntries(holds.map((hold) => [hold.generation, hold.deadline])),
  };
}
