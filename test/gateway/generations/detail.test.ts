import { expect, test } from "bun:test";
import fc from "fast-check";
import { priceLines } from "../../../src/gateway/generations/detail.ts";
import type { Catalog, Prices, TieredPrices } from "../../../src/gateway/models/model.ts";
import { chargedCost } from "../../../src/gateway/models/price.ts";
import { nanoRoundedHalfUp } from "../../../src/kernel/money.ts";
import { aModel, aRoute } from "../../support/providers/models.ts";

const base: Prices = { input: 1_250_000n, output: 10_000_000n, cacheRead: 125_000n, cacheWrite: 1_562_500n };
const above: Prices = { input: 2_500_000n, output: 15_000_000n, cacheRead: 250_000n, cacheWrite: 3_125_000n };

function catalogWith(prices: TieredPrices): Catalog {
  const route = { ...aRoute(), prices };
  const model = { ...aModel(), routes: [route] };
  return { version: "v", models: new Map([[model.id, model]]), providers: new Map([[route.provider.id, route.provider]]) };
}

const catalog = catalogWith({ ...base, tiers: [{ ...above, aboveInputTokens: 200_000 }] });
const served = { model: aModel().id, provider: aRoute().provider.id };

test("the lines of a charge name each class of tokens with its price, and add up to the exact cost", () => {
  const count = fc.integer({ min: 0, max: 400_000 });
  fc.assert(
    fc.property(
      count,
      count,
      count,
      count,
      fc.boolean(),
      (promptTokens, cachedTokens, cacheWriteTokens, completionTokens, isTiered) => {
        const usage = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens };
        const pico = chargedCost(isTiered ? above : base, { ...usage, reasoningTokens: 0 });
        const lines =
          priceLines({ ...served, ...usage, tierAboveTokens: isTiered ? 200_000 : null, amount: { pico } }, catalog) ?? [];
        expect(lines.reduce((sum, { exact_usd: exact }) => sum + BigInt(exact.replace(".", "")), 0n)).toBe(pico);
      },
    ),
  );
});

test("a charge of a tier shows that tier's prices", () => {
  const usage = { promptTokens: 250_000, cachedTokens: 50_000, cacheWriteTokens: null, completionTokens: 1_000 };
  const amount = { pico: chargedCost(above, { ...usage, cacheWriteTokens: 0, reasoningTokens: 0 }) };
  expect(priceLines({ ...served, ...usage, tierAboveTokens: 200_000, amount }, catalog)).toEqual([
    { part: "input", tokens: 200_000, usd_per_million: "2.50", exact_usd: "0.500000000000" },
    { part: "cache_read", tokens: 50_000, usd_per_million: "0.25", exact_usd: "0.012500000000" },
    { part: "output", tokens: 1_000, usd_per_million: "15.00", exact_usd: "0.015000000000" },
  ]);
});

test("no lines are shown that the charge did not have: after a change of price, of another provider, and without a catalog", () => {
  const usage = { promptTokens: 1_000, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 7, tierAboveTokens: null };
  const pico = chargedCost(base, { ...usage, reasoningTokens: 0 });
  const lines = (changed: object, of: Catalog | null = catalog) =>
    priceLines({ ...served, ...usage, amount: { pico }, ...changed }, of);
  expect(lines({})).not.toBeNull();
  expect([
    lines({ amount: { pico: pico + 1n } }),
    lines({ provider: "other" }),
    lines({ tierAboveTokens: 1 }),
    lines({}, null),
  ]).toEqual([null, null, null, null]);
  expect(lines({ amount: { nano: nanoRoundedHalfUp(pico) } })).not.toBeNull();
});
