/** What an answer is charged, computed independently of Weir's code. */
import { presumedTokensPerSecond } from "../../../src/gateway/limits.ts";
import type { ProviderCall } from "../../../src/gateway/providers/provider.ts";
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

/** What a provider has written, and the prompt tokens that it reported before. */
export interface Produced {
  /** By our estimate. */
  tokens: number;
  told?: number | null;
}

/** The estimate of this many words "word ": a word is a token and a thirtieth for each further letter. */
export function wordTokens(words: number): number {
  return Math.round(words * 1.1);
}

/** The provider's counts, and for a side that it counted as zero or not at all the estimate. */
export function chargedUsage(
  counted: Usage | null,
  { chat, maxOutputTokens }: ProviderCall,
  { tokens, told = null }: Produced,
): Usage {
  const usage = counted ?? nothingCounted;
  return {
    ...usage,
    promptTokens: usage.promptTokens || (told ?? Number(chat["prompt_estimate"])),
    completionTokens: usage.completionTokens || Math.min(tokens, maxOutputTokens),
  };
}

/** The output that a call may have written unseen in this time, at the speed that is presumed of a route without a measured one. */
export function likelyTokens({ chat, streamed, maxOutputTokens }: ProviderCall, ms: number): number {
  const hides = !streamed || chat.model === "acme/thinker";
  return hides ? Math.min(Math.ceil((presumedTokensPerSecond / 1_000) * ms), maxOutputTokens) : 0;
}
