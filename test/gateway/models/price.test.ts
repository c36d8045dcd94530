import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { nanoRoundedHalfUp } from "../../../src/kernel/money.ts";
import type { Prices, Route, Usage } from "../../../src/gateway/models/model.ts";
import { chargedCost, maximumCost } from "../../../src/gateway/models/price.ts";
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

const noPrices: Prices = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n };

function routeWith(routePrices: Prices | null, hiddenInputTokens: number | null = 0): Route {
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

  test("the output bound never exceeds a small context window", () => {
    const small = { contextLength: 500, maxOutputTokens: 1_000 };
    expect(maximumCost({ model: small, routes: [aRoute()], inputTokens: 1, tools: false, maxTokens: null }).maxOutputTokens).toBe(
      500,
    );
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
      all: fc.array(prices, { minLength: 1, maxLength: 4 }),
      inputTokens: count,
      maxTokens: fc.option(fc.integer({ min: 1, max: 200_000 })),
      tools: fc.boolean(),
      reported: usage,
      served: fc.nat(),
    });
    fc.assert(
      fc.property(requests, ({ all, inputTokens, maxTokens, tools, reported, served }) => {
        const routes = all.map((one) => routeWith(one, null));
        const bound = maximumCost({ model, routes, inputTokens, tools, maxTokens });
        const within: Usage = {
          ...reported,
          promptTokens: Math.min(reported.promptTokens, bound.inputTokens),
          completionTokens: Math.min(reported.completionTokens, bound.maxOutputTokens),
        };
        const charge = nanoRoundedHalfUp(chargedCost(all[served % all.length] ?? noPrices, within));
        expect(charge <= bound.amount).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("the maximum rises with the input and with the output bound", () => {
    fc.assert(
      fc.property(prices, count, count, fc.integer({ min: 1, max: 900 }), (one, input, more, maxTokens) => {
        const amount = (inputTokens: number, out: number) =>
          maximumCost({ model, routes: [routeWith(one)], inputTokens, tools: false, maxTokens: out }).amount;
        expect(amount(input + more, maxTokens) >= amount(input, maxTokens)).toBe(true);
        expect(amount(input, maxTokens + 1) >= amount(input, maxTokens)).toBe(true);
      }),
    );
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
