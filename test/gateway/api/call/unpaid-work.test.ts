import { describe, expect, test } from "bun:test";
import { nothingCharged, type ChargedUsage } from "../../../../src/gateway/api/call/charged-usage.ts";
import { unpaidNanoMax, unpaidSpanMs, unpaidWindowMs, unpaidWorkspacesMax } from "../../../../src/gateway/limits.ts";
import { chargedFailure, UnpaidWork } from "../../../../src/gateway/api/call/unpaid-work.ts";
import type { Candidate } from "../../../../src/gateway/models/routing/candidate.ts";
import { OversizedAnswer, UpstreamFailure } from "../../../../src/gateway/providers/provider.ts";
import { ManualClock } from "../../../support/clock.ts";
import { candidate } from "../../../support/providers/candidates.ts";

describe("a workspace's unpaid work of an hour", () => {
  test("is at most its allowance, which many small pieces use up as one large one does", () => {
    const unpaid = new UnpaidWork(new ManualClock(), 100n);
    expect(unpaid.take("w", 101n)).toBe(false);
    for (let piece = 0; piece < 100; piece++) expect(unpaid.take("w", 1n)).toBe(true);
    expect(unpaid.take("w", 1n)).toBe(false);
    expect(unpaid.take("v", 100n)).toBe(true);
  });

  test("is forgotten an hour later, and no earlier", () => {
    const clock = new ManualClock();
    const unpaid = new UnpaidWork(clock, 100n);
    expect(unpaid.take("w", 60n)).toBe(true);
    clock.advance(unpaidSpanMs);
    expect(unpaid.take("w", 40n)).toBe(true);
    clock.advance(unpaidWindowMs - unpaidSpanMs - 1);
    expect(unpaid.take("w", 1n)).toBe(false);
    clock.advance(1);
    expect(unpaid.take("w", 60n)).toBe(true);
    expect(unpaid.take("w", 1n)).toBe(false);
  });

  test("is at most 0.05 USD, and remembered of a bounded number of workspaces", () => {
    const unpaid = new UnpaidWork(new ManualClock());
    expect(unpaid.take("first", unpaidNanoMax)).toBe(true);
    for (let other = 1; other < unpaidWorkspacesMax; other++) unpaid.take(`ws-${other}`, 1n);
    expect(unpaid.take("first", 1n)).toBe(false);
    unpaid.take("one too many", 1n);
    expect(unpaid.take("first", 1n)).toBe(true);
    expect(unpaidNanoMax).toBe(50_000_000n);
  });
});

describe("a call that failed", () => {
  const prices = { input: 1_000_000n, output: 10_000_000n, cacheRead: 1_000_000n, cacheWrite: 1_000_000n };
  const priced = (fields: Partial<Candidate["route"]> = {}): Candidate => {
    const { model, route } = candidate("acme");
    return { model, route: { ...route, prices, ...fields } };
  };
  const usage = (promptTokens: number, completionTokens: number): ChargedUsage => ({
    usage: { ...nothingCharged.usage, promptTokens, completionTokens },
    estimated: true,
  });
  const left = usage(1_000, 4_000);
  const failed = (fields: Partial<Parameters<typeof chargedFailure>[0]> = {}) => ({
    reservation: { workspace: "w", amount: 41_000_000n },
    candidate: priced(),
    failure: new UpstreamFailure("upstream_timeout", "by the test"),
    lifecycle: { sentAt: 5 },
    delivered: nothingCharged,
    left: () => left,
    hasLeft: false,
    ...fields,
  });

  test("is charged like a client that leaves, once the workspace has had its hour's unpaid work", () => {
    const unpaid = new UnpaidWork(new ManualClock());
    expect(chargedFailure(failed(), unpaid)).toBe(nothingCharged);
    expect(chargedFailure(failed(), unpaid)).toBe(left);
  });

  test("is charged so too if its answer was too large to take, which a client can ask for", () => {
    const failure = new OversizedAnswer("by the test");
    expect(chargedFailure(failed({ failure }), new UnpaidWork(new ManualClock(), 1n))).toBe(left);
  });

  test("uses up no more of it than the reservation, and only what was not delivered", () => {
    const unpaid = new UnpaidWork(new ManualClock(), 30_000_000n);
    const reservation = { workspace: "w", amount: 20_000_000n };
    expect(chargedFailure(failed({ reservation, delivered: usage(1_000, 900) }), unpaid)).toMatchObject({ estimated: true });
    expect(unpaid.take("w", 20_000_000n)).toBe(true);
    expect(unpaid.take("w", 1n)).toBe(false);
  });

  test.each<[string, Partial<Parameters<typeof chargedFailure>[0]>]>([
    ["before its request was sent", { lifecycle: { sentAt: null } }],
    ["by the provider's own doing", { failure: new UpstreamFailure("upstream_error", "by the test") }],
    ["on an own key, whose provider the workspace pays", { candidate: priced({ ownKey: { id: "own-1" } as never }) }],
    [
      "at a provider that costs nothing",
      { candidate: priced({ prices: { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n } }) },
    ],
  ])("is free %s, and no unpaid work", (_, fields) => {
    const unpaid = new UnpaidWork(new ManualClock());
    expect(chargedFailure(failed({ ...fields, hasLeft: true }), unpaid)).toBe(nothingCharged);
    expect(unpaid.take("w", unpaidNanoMax)).toBe(true);
  });

  test("is charged at once where its client has left", () => {
    expect(chargedFailure(failed({ hasLeft: true }), new UnpaidWork(new ManualClock()))).toBe(left);
  });
});
