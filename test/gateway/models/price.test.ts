import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nanoRoundedHalfUp } from "../../../src/kernel/money.ts";
import type { Prices, PriceTier, Route, TieredPrices, Usage } from "../../../src/gateway/models/model.ts";
import { chargedCost, maximumCost, needsEstimate, tierOf } from "../../../src/gateway/models/price.ts";
import { aModel, aRoute } from "../../support/providers/models.ts";

const count = fc.integer({ min: 0, max: 2_000_000 });
const price = fc.bigInt({ min: 0n, max: 200_000_000n });
const prices: fc.Arbitrary<Prices> = fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price });
const usage: fc.Arbitrary<Usage> = fc.record({
  promptTokens: count,
  cachedTokens: count,
  cacheWriteTokens: count,
  completionTokens: count,
  reasoningTokens: count,
});

/** With up to four tiers, higher or lower than the prices before them. */
const tieredPrices: fc.Arbitrary<TieredPrices> = fc
  .tuple(prices, fc.uniqueArray(fc.integer({ min: 1, max: 120_000 }), { maxLength: 4 }), fc.array(prices, { minLength: 4 }))
  .map(([base, bounds, above]) => {
    const ascending = bounds.toSorted((one, other) => one - other);
    return { ...base, tiers: ascending.map((aboveInputTokens, index) => ({ ...noPrices, ...above[index], aboveInputTokens })) };
  });

const noPrices: Prices = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n };

function chargedAt(tiered: TieredPrices, reported: Usage): bigint {
  return chargedCost(tierOf(tiered.tiers, reported.promptTokens) ?? tiered, reported);
}

function routeWith(routePrices: TieredPrices | null, hiddenInputTokens: number | null = 0): Route {
  return { ...aRoute(), prices: routePrices, hiddenInputTokens };
}

describe("the maximum cost", () => {
  const model = { contextLength: 100_000, maxOutputTokens: 1_000 };

  test("the maximum is the input with the provider's hidden prompt, plus the output bound, at the route's prices", () => {
    const cost = maximumCost({ model, routes: [aRoute()], inputTokens: 100, tools: false, maxTokens: 10 });
    expect(cost).toEqual({ amount: (100n + 64n) * 1_000n + 10n * 2_000n, maxOutputTokens: 10, inputTokens: 164 });
  });

  test("the maximum includes the larger hidden prompt of a request with tools", () => {
    expect(maximumCost({ model, routes: [aRoute()], inputTokens: 100, tools: true, maxTokens: 10 }).inputTokens).toBe(1_124);
  });

  test("a route's hidden prompt in the catalog replaces the default", () => {
    const routes = [aRoute({}, { hidden_input_tokens: 530 })];
    expect(maximumCost({ model, routes, inputTokens: 100, tools: true, maxTokens: 10 }).inputTokens).toBe(630);
  });

  test("the context window caps the input", () => {
    const cost = maximumCost({ model, routes: [aRoute()], inputTokens: 8 * 1024 * 1024, tools: true, maxTokens: 1 });
    expect(cost.inputTokens).toBe(100_000);
  });

  test.each([
    [null, 1_000],
    [1, 1],
    [5_000, 1_000],
  ])("max_tokens %p gives an output bound of %p", (maxTokens, bound) => {
    expect(maximumCost({ model, routes: [aRoute()], inputTokens: 1, tools: false, maxTokens }).maxOutputTokens).toBe(bound);
  });

  test("the output bound never exceeds a small context window, nor what the prompt leaves of it", () => {
    const small = { contextLength: 500, maxOutputTokens: 1_000 };
    const bound = (maxTokens: number | null) =>
      maximumCost({ model: small, routes: [aRoute()], inputTokens: 1, tools: false, maxTokens }).maxOutputTokens;
    expect([bound(1_000), bound(null)]).toEqual([500, 500 - 64 - 1]);
  });

  test("the maximum is rounded up to the nano-USD", () => {
    const routes = [routeWith({ input: 1n, output: 0n, cacheRead: 1n, cacheWrite: 1n })];
    expect(maximumCost({ model, routes, inputTokens: 1, tools: false, maxTokens: 1 }).amount).toBe(1n);
  });

  test("there is no maximum without a route, or for a route without a price", () => {
    const request = { model, inputTokens: 1, tools: false, maxTokens: 1 };
    expect(() => maximumCost({ ...request, routes: [] })).toThrow(RangeError);
    expect(() => maximumCost({ ...request, routes: [routeWith(null)] })).toThrow(RangeError);
  });

  test("the maximum covers every charge within its bounds, by any of the routes", () => {
    const requests = fc.record({
      all: fc.array(fc.oneof(prices, tieredPrices), { minLength: 1, maxLength: 4 }),
      inputTokens: count,
      promptTokens: fc.option(count, { nil: undefined }),
      maxTokens: fc.option(fc.integer({ min: 1, max: 200_000 })),
      most: fc.integer({ min: 1, max: 200_000 }),
      tools: fc.boolean(),
      reported: usage,
      served: fc.nat(),
    });
    fc.assert(
      fc.property(requests, ({ all, inputTokens, promptTokens, maxTokens, most, tools, reported, served }) => {
        const routes = all.map((one) => routeWith(one, null));
        const asked = { model: { ...model, maxOutputTokens: most }, routes, inputTokens, promptTokens, tools, maxTokens };
        const bound = maximumCost(asked);
        const within: Usage = {
          ...reported,
          promptTokens: Math.min(reported.promptTokens, bound.inputTokens),
          completionTokens: Math.min(reported.completionTokens, bound.maxOutputTokens),
        };
        const charge = nanoRoundedHalfUp(chargedAt(all[served % all.length] ?? noPrices, within));
        expect(charge <= bound.amount).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("the maximum rises with the input and with the output bound", () => {
    fc.assert(
      fc.property(tieredPrices, count, count, fc.integer({ min: 1, max: 900 }), (one, input, more, maxTokens) => {
        const amount = (inputTokens: number, out: number) =>
          maximumCost({ model, routes: [routeWith(one)], inputTokens, tools: false, maxTokens: out }).amount;
        expect(amount(input + more, maxTokens) >= amount(input, maxTokens)).toBe(true);
        expect(amount(input, maxTokens + 1) >= amount(input, maxTokens)).toBe(true);
      }),
    );
  });
});

describe("the output of a request without a bound of its own", () => {
  const half = { contextLength: 100_000, maxOutputTokens: 50_000 };
  const asked = { routes: [aRoute({}, { hidden_input_tokens: 0 })], tools: false, maxTokens: null };
  const output = (inputTokens: number, promptTokens?: number, model = half): number =>
    maximumCost({ ...asked, model, inputTokens, promptTokens }).maxOutputTokens;

  test.each<[name: string, bytes: number, estimate: number, sent: number, model?: typeof half]>([
    ["the model's maximum, where every byte could be a token", 50_000, 12_000, 50_000],
    ["what the bytes leave for certain", 52_000, 45_000, 48_000],
    ["the model's maximum, where the estimate leaves it with a margin", 160_000, 40_000, 50_000],
    ["what the estimate leaves with a quarter of the prompt as margin", 160_000, 50_000, 37_500],
    ["half of what the estimate leaves, where the margin is more", 320_000, 80_000, 10_000],
    ["a little, where the estimate leaves nothing", 400_000, 100_000, 1_024],
    ["a little, where the prompt is far too long", 4_000_000, 1_000_000, 1_024],
    ["a sixteenth of a small context", 4_000, 900, 50, { contextLength: 800, maxOutputTokens: 400 }],
  ])("%s", (_, bytes, estimate, sent, model = half) => {
    expect(output(bytes, estimate, model)).toBe(sent);
  });

  test("is never more than the model can write", () => {
    expect(output(400_000, 100_000, { contextLength: 100_000, maxOutputTokens: 16 })).toBe(16);
  });

  test("without an estimate four bytes are a token", () => {
    expect(output(160_000)).toBe(output(160_000, 40_000));
    expect(output(200_000)).toBe(output(200_000, 50_000));
  });

  test("the provider's hidden prompt takes its room, the largest of all routes", () => {
    const routes = [aRoute({}, { hidden_input_tokens: 0 }), aRoute({}, { hidden_input_tokens: 4_000 })];
    expect(maximumCost({ ...asked, routes, model: half, inputTokens: 52_000, promptTokens: 45_000 }).maxOutputTokens).toBe(
      44_000,
    );
  });

  test("a bound of the client is sent as it is, whether it fits or not", () => {
    const bounded = { ...asked, model: half, inputTokens: 400_000, promptTokens: 100_000, maxTokens: 40_000 };
    expect(maximumCost(bounded).maxOutputTokens).toBe(40_000);
  });

  test("at Google output has a limit of its own, and the prompt takes nothing of it", () => {
    const google = aRoute({ format: "google" });
    const request = { ...asked, routes: [google], model: half, inputTokens: 400_000, promptTokens: 100_000 };
    expect(maximumCost(request).maxOutputTokens).toBe(50_000);
    expect(needsEstimate({ ...half, routes: [google] }, request)).toBe(false);
  });

  test("an estimate is needed only where the bytes do not leave the whole maximum, and may leave anything", () => {
    const needs = (inputTokens: number) => needsEstimate({ ...half, routes: asked.routes }, { inputTokens, tools: false });
    expect([50_000, 50_001, 1_600_000, 1_600_001].map(needs)).toEqual([false, true, true, false]);
    expect(output(1_600_001)).toBe(1_024);
  });

  test("where it is not needed it changes nothing, and a true count within the margin always fits", () => {
    const lengths = fc.integer({ min: 1, max: 200_000 });
    fc.assert(
      fc.property(
        lengths,
        lengths,
        count,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (contextLength, maxOutputTokens, bytes, part) => {
          const model = { contextLength, maxOutputTokens };
          const estimate = Math.floor(bytes * part);
          const sent = output(bytes, estimate, model);
          expect(sent).toBeGreaterThan(0);
          expect(sent).toBeLessThanOrEqual(Math.min(maxOutputTokens, contextLength));
          if (bytes + maxOutputTokens <= contextLength) expect(sent).toBe(output(bytes, undefined, model));
          // The margin is whole where it leaves half of the room.
          if (contextLength - 1.5 * estimate >= 2_048)
            expect(sent + Math.min(bytes, estimate * 1.25)).toBeLessThanOrEqual(contextLength);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("the maximum cost of a route with tiers", () => {
  const model = { contextLength: 100_000, maxOutputTokens: 1_000 };
  const flat = (price: bigint): Prices => ({ input: price, output: price, cacheRead: price, cacheWrite: price });
  const tier = (aboveInputTokens: number, price: bigint): PriceTier => ({ ...flat(price), aboveInputTokens });
  const amount = (tiers: PriceTier[], inputTokens: number): bigint =>
    maximumCost({ model, routes: [routeWith({ ...flat(1_000n), tiers })], inputTokens, tools: false, maxTokens: 10 }).amount;

  test("a tier counts only if the request can pass its bound", () => {
    expect(amount([tier(200, 3_000n)], 200)).toBe(210n);
    expect(amount([tier(200, 3_000n)], 201)).toBe(3n * 211n);
  });

  test("the hidden prompt of the provider can take a request beyond a bound", () => {
    const routes = [routeWith({ ...flat(1_000n), tiers: [tier(200, 3_000n)] }, null)];
    const bound = { model, routes, inputTokens: 190, tools: false, maxTokens: 10 };
    expect(maximumCost(bound).amount).toBe(3n * (254n + 10n));
  });

  test("a shorter prompt in a dearer tier may cost more than the longest", () => {
    expect(amount([tier(200, 100n)], 250)).toBe(210n);
    expect(amount([tier(100, 3_000n), tier(200, 100n)], 250)).toBe(3n * 210n);
  });

  test("the output of a cheap prompt may be the dearest part", () => {
    const tiers: PriceTier[] = [{ ...flat(1_000n), output: 90_000n, aboveInputTokens: 40 }, tier(50, 2_000n)];
    expect(amount(tiers, 60)).toBe(50n + 900n);
  });
});

describe("the tier of a prompt", () => {
  test.each([
    [0, null],
    [200, null],
    [201, 200],
    [500, 200],
    [501, 500],
    [9_000_000, 500],
  ])("a prompt of %d tokens is in the tier above %p", (promptTokens, bound) => {
    const tiers = [{ aboveInputTokens: 200 }, { aboveInputTokens: 500 }];
    expect(tierOf(tiers, promptTokens)?.aboveInputTokens ?? null).toBe(bound);
    expect(tierOf(undefined, promptTokens)).toBeNull();
  });
});

describe("the charge", () => {
  const four: Prices = { input: 8n, output: 100n, cacheRead: 1n, cacheWrite: 10n };
  const none: Usage = { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 };

  test("the charge counts each prompt token once: read from the cache, written to it, or neither", () => {
    const reported = {
      ...none,
      promptTokens: 1_000,
      cachedTokens: 600,
      cacheWriteTokens: 300,
      completionTokens: 5,
      reasoningTokens: 3,
    };
    expect(chargedCost(four, reported)).toBe(100n * 8n + 600n * 1n + 300n * 10n + 5n * 100n);
  });

  test("the charge without tokens is zero", () => {
    expect(chargedCost(four, none)).toBe(0n);
  });

  test("the charge covers exactly the reported tokens, for any sum of their parts", () => {
    fc.assert(
      fc.property(usage, (reported) => {
        const one: Prices = { input: 1n, output: 1n, cacheRead: 1n, cacheWrite: 1n };
        expect(chargedCost(one, reported)).toBe(BigInt(reported.promptTokens) + BigInt(reported.completionTokens));
      }),
    );
  });

  test("cache tokens without a price of their own have the input price", () => {
    const [route] = aModel().routes;
    expect(route?.prices).toEqual({ input: 1_000_000n, output: 2_000_000n, cacheRead: 1_000_000n, cacheWrite: 1_000_000n });
  });
});
