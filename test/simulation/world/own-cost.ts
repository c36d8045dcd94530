/** The cost of an answer, computed independently of Weir's code. */
import type { Prices, TieredPrices, Usage } from "../../../src/gateway/models/model.ts";

export const nothingCounted: Usage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** In pico-USD, with half a nano-USD rounded up. */
export function ownCost(tiered: TieredPrices | null, usage: Usage): bigint {
  if (tiered === null) throw new Error("The simulation's model must have prices");
  let prices: Prices = tiered;
  for (const tier of tiered.tiers ?? []) if (usage.promptTokens > tier.aboveInputTokens) prices = tier;
  const fresh = BigInt(usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens) * prices.input;
  const cached = BigInt(usage.cachedTokens) * prices.cacheRead + BigInt(usage.cacheWriteTokens) * prices.cacheWrite;
  return (fresh + cached + BigInt(usage.completionTokens) * prices.output + 500n) / 1_000n;
}
