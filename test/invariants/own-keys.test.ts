import { describe, expect, test } from "bun:test";
import { chargedOnce } from "./checks/charged-once.ts";
import { ownKeysCostNothing } from "./checks/own-keys/own-keys-cost-nothing.ts";
import { reservedBeforeCalled } from "./checks/reserved-before-called.ts";
import { serviceKeyIsAllowed } from "./checks/own-keys/service-key-is-allowed.ts";
import { admitted, amount, called, charged, served } from "./example-events.ts";
import type { Charged, History, HistoryEvent } from "./history.ts";

const withOwnKey: HistoryEvent = { ...called(2, "g"), ownKey: "own-1" } as HistoryEvent;
const counted: HistoryEvent = { kind: "served", at: 3, generation: "g", cost: 70n, isOnOwnKey: true };
const booked: Partial<Charged> = { cost: 0n, ownKey: { id: "own-1", listCost: 70n } };

describe("I-18, a call with an own key is charged 0", () => {
  test("the invariant holds when nothing is charged and the list cost is what the provider counted", () => {
    const history = [admitted(1, "g", { amount: 0n }), withOwnKey, counted, charged(4, "g", { ...booked, reserved: 0n })];
    expect(ownKeysCostNothing(history)).toEqual({ checks: 3, broken: [] });
    expect(chargedOnce(history).broken).toEqual([]);
    expect(reservedBeforeCalled(history).broken).toEqual([]);
  });

  test("a call that went on by credit is charged, and one that a dead gateway left is booked on its last key", () => {
    const moved = [withOwnKey, called(3, "g"), charged(4, "g")];
    expect(ownKeysCostNothing(moved).broken).toEqual([]);
    const cut = [called(2, "g"), { ...withOwnKey, at: 3 }, charged(4, "g", { cost: 0n, cut: true })];
    expect(ownKeysCostNothing(cut).broken).toEqual([]);
  });

  test.each<[string, History, string]>([
    ["a charge", [withOwnKey, charged(4, "g", { ...booked, cost: 50n })], "called with own-1, but charged 50 and 0"],
    ["an excess", [withOwnKey, charged(4, "g", { ...booked, excess: 9n })], "called with own-1, but charged 0 and 9"],
    ["the key of a call before", [withOwnKey, called(3, "g"), charged(4, "g", booked)], "called with the service's key"],
    ["another key", [withOwnKey, charged(4, "g", { ...booked, ownKey: { id: "own-2", listCost: 70n } })], "booked on own-2"],
    [
      "another list cost",
      [withOwnKey, counted, charged(4, "g", { ...booked, ownKey: { id: "own-1", listCost: 69n } })],
      "69 list cost",
    ],
    ["no list cost", [withOwnKey, counted, charged(4, "g", { cost: 0n })], "no list cost"],
  ])("the checker reports %s", (_, history, problem) => {
    expect(ownKeysCostNothing(history).broken.join()).toContain(problem);
  });
});

describe("I-19, no credit is spent beside an own key without consent", () => {
  const set = (at: number, providers: string[], fallback = false): HistoryEvent => {
    const keys = providers.map((provider) => ({ id: `own-${provider}`, provider }));
    return { kind: "own keys", at, workspace: "w", keys, fallback };
  };
  const call = (at: number, provider: string, ownKey?: string): HistoryEvent => {
    const facts = { provider: { id: provider, ofModel: ["acme", "beta"] }, ...(ownKey !== undefined && { ownKey }) };
    return { kind: "called", at, generation: "g", ...facts };
  };
  const check = (...history: HistoryEvent[]) => serviceKeyIsAllowed(history, 0);

  test("the invariant holds for own keys, for models without one, and for other providers with consent", () => {
    const sound = { checks: 1, broken: [] };
    expect(check(set(0, ["acme"]), admitted(1, "g"), call(2, "acme", "own-acme"))).toEqual(sound);
    expect(check(set(0, ["gamma"]), admitted(1, "g"), call(2, "acme"))).toEqual(sound);
    expect(check(set(0, ["acme"], true), admitted(1, "g"), call(2, "beta"))).toEqual(sound);
  });

  test("settings of the half minute before the admission may still be used, and older ones may not", () => {
    const late = (at: number) => check(set(0, []), set(10, ["acme"]), admitted(at, "g"), call(at, "acme"));
    expect(late(30_005).broken).toEqual([]);
    expect(late(30_015).broken).toHaveLength(1);
  });

  test.each<[string, HistoryEvent[]]>([
    ["the service's key at a provider with an own one", [set(0, ["acme"], true), admitted(1, "g"), call(2, "acme")]],
    ["credit at another provider without consent", [set(0, ["acme"]), admitted(1, "g"), call(2, "beta")]],
    ["a key that the workspace does not have", [set(0, ["acme"]), admitted(1, "g"), call(2, "acme", "own-other")]],
  ])("the checker reports %s", (_, history) => {
    expect(check(...history).broken.join()).toContain("which w does not allow");
  });
});

describe("I-1, the reservation covers what a provider counts within the bounds of a request", () => {
  test("the checker reports a cost above the reservation, unless the provider counted more than there can be", () => {
    const dear = served(3, "g", amount + 1n);
    const history = (answer: HistoryEvent) => [admitted(1, "g"), called(2, "g"), answer];
    expect(reservedBeforeCalled(history(dear)).broken).toEqual(["g: 201 counted within its bounds, reserved 200"]);
    expect(reservedBeforeCalled(history({ ...dear, isAboveBound: true } as HistoryEvent)).broken).toEqual([]);
  });
});
