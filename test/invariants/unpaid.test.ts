import { describe, expect, test } from "bun:test";
import { unpaidIsBounded } from "./checks/unpaid-work.ts";
import { answered, charged } from "./example-events.ts";
import type { EventOf, History, HistoryEvent } from "./history.ts";

function timedOut(at: number, generation: string, fields: Partial<EventOf<"timed out">> = {}): HistoryEvent {
  const costs = { delivered: 0n, due: 20n, allowance: 30n };
  return { kind: "timed out", at, generation, workspace: "w", gateway: "a", ...costs, ...fields };
}

const seen = { status: 504, code: "upstream_timeout", whole: false };
/** Times out while its client waits, and is charged this much. */
const waited = (at: number, generation: string, cost: bigint, fields: Partial<EventOf<"timed out">> = {}): History => [
  timedOut(at, generation, fields),
  answered(at, generation, seen),
  charged(at + 1, generation, { cost }),
];

describe("I-17, a client that waits too often pays for what was produced", () => {
  test("the invariant holds while what is unpaid is within the allowance, and what is beyond is charged", () => {
    expect(unpaidIsBounded([...waited(1, "gen-1", 0n), ...waited(2, "gen-2", 20n)]).broken).toEqual([]);
    expect(unpaidIsBounded([...waited(1, "gen-1", 0n), ...waited(2, "gen-2", 0n, { workspace: "v" })]).broken).toEqual([]);
    expect(unpaidIsBounded([...waited(1, "gen-1", 0n), ...waited(2, "gen-2", 0n, { gateway: "b" })]).broken).toEqual([]);
    expect(unpaidIsBounded([...waited(1, "gen-1", 0n), ...waited(3_600_002, "gen-2", 0n)]).broken).toEqual([]);
  });

  test("what is beyond the reservation is not unpaid, since nobody would pay it", () => {
    const beyond = [timedOut(1, "gen-1", { due: 50n }), charged(2, "gen-1", { cost: 20n, reserved: 20n })];
    expect(unpaidIsBounded([...beyond, ...waited(3, "gen-2", 0n)]).broken).toEqual([]);
  });

  test("a client that left is charged within the allowance too", () => {
    const left: History = [
      timedOut(1, "gen-1"),
      answered(1, "gen-1", { ...seen, hasLeft: true }),
      charged(2, "gen-1", { cost: 20n }),
    ];
    expect(unpaidIsBounded(left).broken).toEqual([]);
  });

  test.each<[string, History]>([
    ["more stays unpaid in an hour", [...waited(1, "gen-1", 0n), ...waited(3_600_000, "gen-2", 0n)]],
    ["one alone is above the allowance", waited(1, "gen-1", 0n, { due: 31n })],
    ["a client that waited is charged within the allowance", waited(1, "gen-1", 20n)],
    ["less is charged than was delivered", waited(1, "gen-1", 5n, { delivered: 10n })],
  ])("the checker reports it when %s", (_, history) => {
    expect(unpaidIsBounded(history).broken).toHaveLength(1);
  });
});
