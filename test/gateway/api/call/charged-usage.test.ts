/** The charged usage for each reported usage: a provider's counts are bounded, and neither side of an answer is free. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  chargedDisconnect,
  chargedUsage,
  chargedWhole,
  type UsageBounds,
} from "../../../../src/gateway/api/call/charged-usage.ts";
import type { StreamOutcome } from "../../../../src/gateway/api/stream/stream.ts";
import type { ReportedUsage } from "../../../../src/gateway/models/model.ts";
import { UpstreamFailure } from "../../../../src/gateway/providers/provider.ts";

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
