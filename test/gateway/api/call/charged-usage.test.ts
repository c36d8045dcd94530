/** What is charged, by what was told: nothing that a provider writes is believed without a bound, and no half is free. */
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

const bounds: UsageBounds = { promptEstimate: 25, tokensMax: 1_064, maxOutputTokens: 200, reasons: false };
const zeros = { cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
const told = (
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

describe("a whole answer of 50 tokens by our estimate", () => {
  test.each<[string, ReportedUsage | null, unknown]>([
    ["is charged as its provider counted it", told(12, 40), charged(12, 40, false)],
    ["is estimated where nothing was told", null, charged(25, 50, true)],
    ["is not half free where the prompt alone was told", told(12, null), charged(12, 50, true)],
    ["is not half free where the output alone was told", told(null, 40), charged(25, 40, true)],
    ["costs nothing for output where its provider says so", told(12, 0), charged(12, 0, false)],
    ["has no prompt longer than its context", told(9_007_199_254_740_991, 40), charged(25, 40, true)],
    ["has no output longer than its context", told(12, 999_999_999), charged(12, 50, true)],
    ["may reach to the end of its context", told(1_064, 1_064), charged(1_064, 1_064, false)],
    ["takes no total for output that its parts do not explain", told(12, 40, { unexplainedTokens: 100 }), charged(12, 40, false)],
  ])("%s", (_, usage, expected) => {
    expect<unknown>(chargedWhole(usage, bounds, 50)).toEqual(expected);
  });

  test("of a model that reasons has what its total leaves unexplained as reasoning, as far as it was allowed to write", () => {
    const reasoning = { ...bounds, reasons: true };
    const more = { reasoningTokens: 100 };
    expect<unknown>(chargedWhole(told(12, 40, { unexplainedTokens: 100 }), reasoning, 50)).toEqual(charged(12, 140, false, more));
    expect<unknown>(chargedWhole(told(12, 40, { unexplainedTokens: 161 }), reasoning, 50)).toEqual(charged(12, 40, false));
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

describe("a stream", () => {
  test.each<[string, Partial<StreamOutcome>, number, unknown]>([
    ["heard to its end costs what its provider counted", { usage: told(12, 700) }, 0, charged(12, 700, false)],
    [
      "that failed before it began costs nothing",
      { how: "failed", final: false, failure, producedTokens: 0 },
      0,
      charged(0, 0, false),
    ],
    ["that broke off costs what was produced", { how: "failed", final: false, failure }, 0, charged(25, 50, true)],
    [
      "that broke off after a count costs that count and what came after it",
      { how: "failed", final: false, failure, usage: told(12, 20), uncountedTokens: 3 },
      0,
      charged(12, 23, true),
    ],
    [
      "left before anything was delivered costs its prompt",
      { ...left, producedTokens: 0, uncountedTokens: 0 },
      0,
      charged(25, 0, true),
    ],
    ["left costs what was produced", left, 0, charged(25, 50, true)],
    ["left costs what its route makes in such a time, where that is more", left, 80, charged(25, 80, true)],
    ["left costs what was produced, where that is more", left, 20, charged(25, 50, true)],
    ["left costs no more than it could have", left, 5_000, charged(25, 200, true)],
    ["left and read to its end costs what its provider counted", { ...left, final: true, usage: told(12, 20_020) }, 5_000, {}],
    [
      "that our clock ended because its client held it up costs what its route makes in such a time",
      { how: "failed", final: false, failure: late, heldUpMs: 60_000 },
      80,
      charged(25, 80, true),
    ],
    [
      "that our clock ended though its client read on costs what was produced",
      { how: "failed", final: false, failure: late },
      80,
      charged(25, 50, true),
    ],
    ["left once it was whole costs what was produced", { ...left, isComplete: true }, 80, charged(25, 50, true)],
    ["left, whose provider then failed, costs what was produced", { ...left, failure }, 5_000, charged(25, 50, true)],
  ])("%s", (_, fields, likely, expected) => {
    const large = { ...bounds, tokensMax: 100_000 };
    const { usage, estimated } = chargedUsage(outcome(fields), large, likely);
    expect<unknown>({ usage, estimated }).toMatchObject(expected as object);
    if (fields.usage?.completionTokens === 20_020) expect(usage).toMatchObject({ promptTokens: 12, completionTokens: 20_020 });
  });

  test("left before it had begun costs its prompt, and what its route makes in such a time", () => {
    expect<unknown>(chargedDisconnect(bounds, 0)).toEqual(charged(25, 0, true));
    expect<unknown>(chargedDisconnect(bounds, 5_000)).toEqual(charged(25, 200, true));
  });

  test("is never charged an impossible count, whatever is told and whenever it ends", () => {
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
