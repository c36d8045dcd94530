/** The charged usage for each reported usage: a provider's counts are bounded, and neither side of an answer is free. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { StreamOutcome } from "../../../../src/gateway/api/answer/relay.ts";
import {
  chargedDisconnect,
  chargedUsage,
  chargedWhole,
  type UsageBounds,
  boundsOnceTold,
  nothingCharged,
  type ChargedUsage,
  chargedFailure,
  UnpaidWork,
} from "../../../../src/gateway/api/call/charged-usage.ts";
import { unpaidNanoMax, unpaidSpanMs, unpaidWindowMs, unpaidWorkspacesMax } from "../../../../src/gateway/limits.ts";
import type { ReportedUsage } from "../../../../src/gateway/models/model.ts";
import type { Candidate } from "../../../../src/gateway/models/candidate.ts";
import { UpstreamFailure, OversizedAnswer } from "../../../../src/gateway/providers/provider.ts";
import { ManualClock } from "../../../support/clock.ts";
import { candidate } from "../../../support/providers/candidates.ts";

const bounds: UsageBounds = { promptEstimate: () => 25, tokensMax: 1_064, maxOutputTokens: 200, reasons: false };
const zeros = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const reported = (
  promptTokens: number | null,
  completionTokens: number | null,
  more: Partial<ReportedUsage> = {},
): ReportedUsage => ({
  ...zeros,
  promptTokens,
  completionTokens,
  ...more,
});
const charged = (promptTokens: number, completionTokens: number, estimated: boolean, more = {}) => ({
  usage: { ...zeros, promptTokens, completionTokens, ...more },
  estimated,
});

describe("the usage of an answer of 50 tokens by our estimate", () => {
  test.each<[string, ReportedUsage | null, unknown]>([
    ["an answer is charged as its provider counted it", reported(12, 40), charged(12, 40, false)],
    ["an answer without reported usage is estimated", null, charged(25, 50, true)],
    ["an answer with only the prompt reported gets an estimated output", reported(12, null), charged(12, 50, true)],
    ["an answer with only the output reported gets an estimated prompt", reported(null, 40), charged(25, 40, true)],
    ["a count of zero output is no count where text was produced", reported(12, 0), charged(12, 50, true)],
    ["a count of zero prompt is no count", reported(0, 40), charged(25, 40, true)],
    ["a prompt count above the context is dropped", reported(9_007_199_254_740_991, 40), charged(25, 40, true)],
    [
      "the parts of a dropped prompt count are dropped with it",
      reported(9_007_199_254_740_991, 40, { cachedTokens: 9_007_199_254_740_990, cacheWriteTokens: 1 }),
      charged(25, 40, true),
    ],
    ["an output count above the context is dropped", reported(12, 999_999_999), charged(12, 50, true)],
    ["counts may reach the end of the context", reported(1_064, 1_064), charged(1_064, 1_064, false)],
    ["a total that its parts do not explain is dropped", reported(12, 40, { unexplainedTokens: 100 }), charged(12, 40, false)],
  ])("%s", (_, usage, expected) => {
    expect<unknown>(chargedWhole(usage, bounds, () => 50)).toEqual(expected);
  });

  test("an empty answer whose provider counts zero output costs its prompt, and nothing of it is estimated", () => {
    expect<unknown>(chargedWhole(reported(12, 0), bounds, () => 0)).toEqual(charged(12, 0, false));
  });

  test("the texts of an answer that its provider has counted, which may be long, are not looked at", () => {
    const looked = (): number => {
      throw new Error("The provider has counted the answer");
    };
    expect<unknown>(chargedWhole(reported(12, 40), bounds, looked)).toEqual(charged(12, 40, false));
  });

  test("unexplained tokens of a reasoning model's total count as reasoning, up to the allowed output", () => {
    const reasoning = { ...bounds, reasons: true };
    const more = { reasoningTokens: 100 };
    expect<unknown>(chargedWhole(reported(12, 40, { unexplainedTokens: 100 }), reasoning, () => 50)).toEqual(
      charged(12, 140, false, more),
    );
    expect<unknown>(chargedWhole(reported(12, 40, { unexplainedTokens: 161 }), reasoning, () => 50)).toEqual(
      charged(12, 40, false),
    );
  });
});

const failure = new UpstreamFailure("upstream_error", "broke off");
const late = new UpstreamFailure("upstream_timeout", "not done in time");
const outcome = (fields: Partial<StreamOutcome>): StreamOutcome => ({
  how: "completed",
  failure: null,
  usage: null,
  final: true,
  producedTokens: 50,
  uncountedTokens: 50,
  firstTokenMs: 1,
  heldUpMs: 0,
  isComplete: false,
  ...fields,
});
const left = { how: "client_gone", final: false } as const;

describe("the usage of a stream", () => {
  test.each<[string, Partial<StreamOutcome>, number, unknown]>([
    ["a stream read to its end costs what its provider counted", { usage: reported(12, 700) }, 0, charged(12, 700, false)],
    [
      "a stream that failed before it began costs nothing",
      { how: "failed", final: false, failure, producedTokens: 0 },
      0,
      charged(0, 0, false),
    ],
    ["a stream that broke off costs what was produced", { how: "failed", final: false, failure }, 0, charged(25, 50, true)],
    [
      "a stream that broke off after a count costs that count and what came after it",
      { how: "failed", final: false, failure, usage: reported(12, 20), uncountedTokens: 3 },
      0,
      charged(12, 23, true),
    ],
    [
      "a stream whose client left before anything was delivered costs its prompt",
      { ...left, producedTokens: 0, uncountedTokens: 0 },
      0,
      charged(25, 0, true),
    ],
    ["a stream whose client left costs what was produced", left, 0, charged(25, 50, true)],
    ["a stream whose client left costs the route's usual output in that time, if that is more", left, 80, charged(25, 80, true)],
    ["a stream whose client left costs what was produced, if that is more", left, 20, charged(25, 50, true)],
    ["a stream whose client left costs at most its bound", left, 5_000, charged(25, 200, true)],
    [
      "a stream drained to its end costs what its provider counted",
      { ...left, final: true, usage: reported(12, 20_020) },
      5_000,
      {},
    ],
    [
      "a stream that timed out because its client held it up costs the route's usual output in that time",
      { how: "failed", final: false, failure: late, heldUpMs: 60_000 },
      80,
      charged(25, 80, true),
    ],
    [
      "a stream that timed out although its client kept reading costs what was produced",
      { how: "failed", final: false, failure: late },
      80,
      charged(25, 50, true),
    ],
    ["a complete stream whose client left costs what was produced", { ...left, isComplete: true }, 80, charged(25, 50, true)],
    [
      "a stream whose client left and whose provider then failed costs what was produced",
      { ...left, failure },
      5_000,
      charged(25, 50, true),
    ],
  ])("%s", (_, fields, likely, expected) => {
    const large = { ...bounds, tokensMax: 100_000 };
    const { usage, estimated } = chargedUsage(outcome(fields), large, likely);
    expect<unknown>({ usage, estimated }).toMatchObject(expected as object);
    if (fields.usage?.completionTokens === 20_020) expect(usage).toMatchObject({ promptTokens: 12, completionTokens: 20_020 });
  });

  test("a stream whose client left before it began costs its prompt, and the route's usual output in that time", () => {
    expect<unknown>(chargedDisconnect(null, bounds, 0)).toEqual(charged(25, 0, true));
    expect<unknown>(chargedDisconnect(null, bounds, 5_000)).toEqual(charged(25, 200, true));
  });

  test("a prompt that the provider told before the client left is the prompt that is charged", () => {
    const told = reported(900, null, { cachedTokens: 300 });
    expect<unknown>(chargedDisconnect(told, bounds, 7)).toEqual(charged(900, 7, true, { cachedTokens: 300 }));
    expect<unknown>(chargedDisconnect(reported(900, 30), bounds, 7)).toEqual(charged(900, 30, true));
    expect<unknown>(chargedDisconnect(reported(2_000, null), bounds, 7)).toEqual(charged(25, 7, true));
  });

  test("no stream is charged an impossible count", () => {
    const count = fc.option(fc.oneof(fc.nat(2_000), fc.maxSafeNat()));
    const usage = fc
      .record({ promptTokens: count, completionTokens: count, unexplainedTokens: fc.oneof(fc.nat(300), fc.maxSafeNat()) })
      .map((counts) => ({ ...zeros, ...counts, cachedTokens: counts.promptTokens ?? 0 }));
    const fields = fc.record({
      how: fc.constantFrom("completed" as const, "failed" as const, "client_gone" as const),
      final: fc.boolean(),
      usage: fc.option(usage),
      producedTokens: fc.nat(200),
      uncountedTokens: fc.nat(200),
    });
    fc.assert(
      fc.property(fields, fc.boolean(), fc.nat(), (some, reasons, likely) => {
        const { usage: sum } = chargedUsage(outcome(some), { ...bounds, reasons }, likely);
        expect(sum.promptTokens).toBeLessThanOrEqual(bounds.tokensMax);
        expect(sum.completionTokens).toBeLessThanOrEqual(bounds.tokensMax + 200);
        expect(sum.cachedTokens + sum.cacheWriteTokens).toBeLessThanOrEqual(sum.promptTokens);
        expect(sum.reasoningTokens).toBeLessThanOrEqual(sum.completionTokens);
      }),
    );
  });
});

const told = (promptTokens: number | null) => ({ ...zeros, promptTokens, completionTokens: null });

test("a prompt that its provider has told before the answer is not estimated, which takes a long one milliseconds", () => {
  const estimate = (): number => {
    throw new Error("The provider has counted the prompt");
  };
  const bounds: UsageBounds = { promptEstimate: estimate, tokensMax: 1_064, maxOutputTokens: 200, reasons: false };
  const once = boundsOnceTold(bounds, told(1_064));
  expect(once.promptEstimate()).toBe(1_064);
  // A later count that cannot be true does not replace the one that was reported.
  const left = { how: "client_gone", failure: null, final: false, producedTokens: 5, uncountedTokens: 5 } as const;
  const outcome = { ...left, usage: told(5_000), firstTokenMs: 1, heldUpMs: 0, isComplete: false };
  expect(chargedUsage(outcome, once).usage).toMatchObject({ promptTokens: 1_064, completionTokens: 5 });
});

test.each([null, told(null), told(0), told(1_065)])("a prompt that was not told, or cannot be true, is estimated", (reported) => {
  const bounds: UsageBounds = { promptEstimate: () => 25, tokensMax: 1_064, maxOutputTokens: 200, reasons: false };
  expect(boundsOnceTold(bounds, reported).promptEstimate()).toBe(25);
});

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
