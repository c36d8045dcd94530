import { describe, expect, test } from "bun:test";
import { chargedOnce } from "./checks/charged-once.ts";
import { disconnectIsCharged } from "./checks/disconnect-is-charged.ts";
import { noDebt } from "./checks/no-debt.ts";
import { creditCoversHolds } from "./checks/credit-covers-holds.ts";
import type { EventOf, History, HistoryEvent } from "./history.ts";
import { inOrder } from "./in-order.ts";
import { monthLimits } from "./checks/month-limits.ts";
import { reservedBeforeCalled } from "./checks/reserved-before-called.ts";
import { admitted, answered, called, charged, credited, generation, invoked, owed, served } from "./example-events.ts";

const sound: History = [credited(0, 1_000n), ...generation(10, "gen-1"), ...generation(20, "gen-2", 200n)];

describe("I-1, a provider is called only with a reservation", () => {
  test("the invariant holds when each call was admitted before", () => {
    expect(reservedBeforeCalled(sound)).toEqual({ checks: 10, broken: [] });
  });

  test.each<[string, History, string]>([
    ["it was never admitted", [called(1, "gen-1")], "without a reservation"],
    ["it was admitted afterwards", [called(1, "gen-1"), admitted(2, "gen-1")], "without a reservation"],
    [
      "it had been released",
      [admitted(1, "gen-1"), { kind: "released", at: 2, generation: "gen-1" }, called(3, "gen-1")],
      "was released",
    ],
    [
      "it had expired",
      [admitted(1, "gen-1"), charged(2, "gen-1", { outcome: "expired", cost: 0n }), called(3, "gen-1")],
      "was expired",
    ],
    [
      "it was charged above its reservation",
      [admitted(1, "gen-1"), called(2, "gen-1"), charged(3, "gen-1", { cost: 201n })],
      "201",
    ],
    ["its charge has another reservation", [admitted(1, "gen-1", { amount: 10n }), charged(3, "gen-1")], "10 reserved, 200"],
  ])("the checker reports it when %s", (_, history, problem) => {
    expect(reservedBeforeCalled(history).broken.join()).toContain(problem);
  });
});

describe("I-3, credit covers all that is held", () => {
  const full = [credited(0, 400n), admitted(1, "gen-1"), admitted(2, "gen-2")];

  test("the invariant holds up to the full credit, and again after a charge below its hold", () => {
    expect(creditCoversHolds(sound)).toEqual({ checks: 2, broken: [] });
    expect(creditCoversHolds([...full, charged(3, "gen-1", { cost: 0n }), admitted(4, "gen-3")]).broken).toEqual([]);
    expect(creditCoversHolds([...full, { kind: "released", at: 3, generation: "gen-1" }, admitted(4, "gen-3")]).broken).toEqual(
      [],
    );
  });

  test("a late charge excuses a lack of credit, up to its amount", () => {
    const late = [credited(0, 400n), charged(1, "gen-0", { late: true, cost: 150n }), admitted(2, "gen-1"), admitted(3, "gen-2")];
    expect(creditCoversHolds(late).broken).toEqual([]);
    expect(creditCoversHolds([...late, admitted(4, "gen-3", { amount: 1n })]).broken).toHaveLength(1);
  });

  test.each<[string, History]>([
    ["more is held than the credit covers", [...full, admitted(3, "gen-3", { amount: 1n })]],
    ["charged credit is reserved again", [...full, charged(3, "gen-1", { cost: 1n }), admitted(4, "gen-3")]],
    [
      "the counters reported a negative remainder",
      [{ kind: "reserved", at: 1, generation: "gen-1", workspace: "w", available: -1n }],
    ],
  ])("the checker reports it when %s", (_, history) => {
    expect(creditCoversHolds(history).broken).toHaveLength(1);
  });
});

describe("I-8, each call is charged once, and exactly its cost", () => {
  test("the invariant holds for settled generations, and for expired ones that are charged late", () => {
    expect(chargedOnce(sound)).toMatchObject({ checks: 14, broken: [] });
    const late = charged(4, "gen-1", { late: true });
    expect(chargedOnce([called(1, "gen-1"), charged(3, "gen-1", { outcome: "expired", cost: 0n }), late]).broken).toEqual([]);
    expect(chargedOnce([called(1, "gen-1"), late]).broken).toEqual([]);
  });

  const whole = [called(1, "gen-1"), served(2, "gen-1", 50n), answered(3, "gen-1")];
  test("the invariant holds without an end, or with a hold that expired, only where the stream lost its event and the database its charge", () => {
    const charge = { ...charged(4, "gen-1"), kind: "charged" } as EventOf<"charged">;
    const stream: HistoryEvent = { kind: "events lost", at: 3, generations: ["gen-1"] };
    const database: HistoryEvent = { kind: "restored", at: 5, lost: [charge] };
    expect(chargedOnce([...whole, stream, database]).broken).toEqual([]);
    expect(chargedOnce([...whole, stream]).broken.join()).toContain("has no end");
    expect(chargedOnce([...whole, database]).broken.join()).toContain("has no end");
    const expired = charged(6, "gen-1", { outcome: "expired", cost: 0n });
    expect(chargedOnce([...whole, stream, database, expired]).broken).toEqual([]);
    expect(chargedOnce([...whole, stream, expired]).broken.join()).toContain("ended as expired");
    expect(chargedOnce([...whole, database, expired]).broken.join()).toContain("ended as expired");
    const wrongly = charged(6, "gen-1", { cost: 49n });
    expect(chargedOnce([...whole, stream, database, wrongly]).broken.join()).toContain("counted 50, but 49");
  });

  test("the invariant holds for a call that a gateway noted before it died, whether or not its provider saw it", () => {
    expect(chargedOnce([charged(2, "gen-1", { cut: true })]).broken).toEqual([]);
  });

  test.each<[string, History, string]>([
    ["a call has no end", [called(1, "gen-1")], "has no end"],
    ["it was charged twice", [called(1, "gen-1"), charged(2, "gen-1"), charged(3, "gen-1")], "settled 50, settled 50"],
    [
      "it was charged a second time, not late",
      [called(1, "gen-1"), charged(2, "gen-1", { outcome: "unknown", cost: 0n }), charged(3, "gen-1")],
      "unknown 0",
    ],
    ["a generation without a call is charged", [charged(2, "gen-1")], "no provider was called"],
    ["a complete answer ends as unknown", [...whole, charged(4, "gen-1", { outcome: "unknown", cost: 0n })], "ended as unknown"],
    ["an answer is charged less than was counted", [...whole, charged(4, "gen-1", { cost: 49n })], "counted 50, but 49"],
    ["an answer shows another charge", [...whole, answered(3, "gen-1", { told: 51n }), charged(4, "gen-1")], "costs 51, but 50"],
    [
      "it expired while its gateway was reachable",
      [called(1, "gen-1"), charged(2, "gen-1", { outcome: "expired", cost: 0n, knownBy: "gateway-1" })],
      "although gateway-1 had it open",
    ],
    [
      "text was delivered without a charge",
      [called(1, "gen-1"), answered(3, "gen-1", { whole: false, deliveredBytes: 7 }), charged(4, "gen-1", { cost: 0n })],
      "7 bytes were delivered",
    ],
  ])("the checker reports it when %s", (_, history, problem) => {
    expect(chargedOnce(history).broken.join()).toContain(problem);
  });
});

describe("I-16, no balance falls below zero by a charge", () => {
  const spent = [credited(0, 100n), charged(1, "gen-1", { cost: 100n })];

  test("the invariant holds down to a balance of zero", () => {
    expect(noDebt(spent)).toEqual({ checks: 1, broken: [] });
    expect(noDebt([...spent, charged(2, "gen-2", { cost: 0n, excess: 50n, late: true })]).broken).toEqual([]);
  });

  test("the checker reports a late charge above the balance", () => {
    expect(noDebt([...spent, charged(2, "gen-2", { cost: 1n, late: true })]).broken.join()).toContain("left w with -1");
  });
});

describe("I-17, a client that hangs up pays for what was produced", () => {
  const left = [called(1, "gen-1"), owed(1, "gen-1", 20n)];

  test("the invariant holds when the amount due is charged, or is above the reservation", () => {
    expect(disconnectIsCharged([...left, charged(2, "gen-1", { cost: 20n })])).toEqual({ checks: 1, broken: [] });
    expect(disconnectIsCharged([...left, charged(2, "gen-1", { cost: 5n, excess: 15n })]).broken).toEqual([]);
  });

  test("the invariant holds for a failed provider, for a provider's lower count, and for an expired generation", () => {
    expect(disconnectIsCharged([...left, owed(2, "gen-1", 0n), charged(3, "gen-1", { cost: 0n })]).broken).toEqual([]);
    expect(disconnectIsCharged([...left, served(2, "gen-1", 3n), charged(3, "gen-1", { cost: 3n })]).broken).toEqual([]);
    expect(disconnectIsCharged([...left, charged(3, "gen-1", { outcome: "expired", cost: 0n })]).broken).toEqual([]);
    expect(disconnectIsCharged(left).broken).toEqual([]);
  });

  test.each<[string, History]>([
    ["hanging up costs nothing", [charged(2, "gen-1", { cost: 0n })]],
    ["only the prompt is charged although more was delivered", [owed(2, "gen-1", 30n), charged(3, "gen-1", { cost: 20n })]],
    ["a dead gateway makes it free", [charged(2, "gen-1", { cost: 0n, cut: true })]],
    ["a request that was sent ends as unknown", [charged(2, "gen-1", { outcome: "unknown", cost: 0n })]],
  ])("the checker reports it when %s", (_, history) => {
    expect(disconnectIsCharged([...left, ...history]).broken).toHaveLength(1);
  });
});

describe("I-11, no limit is exceeded", () => {
  const limits: History = [
    { kind: "spend limit", at: 0, workspace: "w", key: "k", limit: 400n },
    { kind: "spend limit", at: 0, workspace: "w", key: null, limit: 500n },
  ];

  test("the invariant holds up to the limit, for each month separately", () => {
    const history = [
      ...limits,
      admitted(1, "gen-1"),
      admitted(2, "gen-2"),
      charged(3, "gen-1", { cost: 0n }),
      admitted(4, "gen-3"),
    ];
    expect(monthLimits(history, 0)).toEqual({ checks: 6, broken: [] });
    expect(monthLimits([...history, admitted(5, "gen-4", { month: "2026-12" })], 0).broken).toEqual([]);
  });

  test("the checker accepts the old limit for half a minute after it was lowered, and no longer", () => {
    const lowered: History = [...limits, { kind: "spend limit", at: 10, workspace: "w", key: "k", limit: 100n }];
    expect(monthLimits([...lowered, admitted(30_010, "gen-1")], 0).broken).toHaveLength(1);
    expect(monthLimits([...lowered, admitted(30_009, "gen-1")], 0).broken).toEqual([]);
    expect(monthLimits([...lowered, admitted(30_010, "gen-1")], 50).broken).toEqual([]);
  });

  test.each<[string, History, string]>([
    ["a key holds more", [admitted(1, "gen-1"), admitted(2, "gen-2", { amount: 201n })], "k spent 0 and holds 401"],
    ["a workspace holds more", [admitted(1, "gen-1", { key: "k2", amount: 301n }), admitted(2, "gen-2")], "w spent 0"],
    [
      "an earlier charge is not counted",
      [admitted(1, "gen-1"), charged(2, "gen-1", { cost: 201n, reserved: 201n }), admitted(3, "gen-2")],
      "k spent 201",
    ],
  ])("the checker reports it when %s", (_, history, problem) => {
    expect(monthLimits([...limits, ...history], 0).broken.join()).toContain(problem);
  });
});

test("inOrder sorts events by time; at the same time, those that free credit come first", () => {
  const kinds = inOrder([called(2, "a"), admitted(1, "a"), charged(1, "b"), credited(1, 1n), invoked(0, "a")]).map(
    ({ kind }) => kind,
  );
  expect(kinds).toEqual(["invoked", "credited", "charged", "admitted", "called"]);
});
