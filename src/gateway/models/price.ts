/**
 * A request's maximum cost and its actual cost. All values are integers, tokens × pico-USD, and a cost is rounded once, at the end. The
 * maximum is an upper bound as long as the provider counts within the bounds: the prompt counts with its upper bound, the hidden prompt and
 * the most expensive class and tier, the output with the bound that is sent. An estimate of the prompt may lower the output bound. The
 * amount uses the bound that is sent, so it stays an upper bound however wrong the estimate is.
 */
import { nanoRoundedUp, picoCost, type NanoUsd, type PicoUsdPerToken } from "../../kernel/money.ts";
import { hiddenInputTokensDefault, hiddenInputTokensWithTools, outputTokensMin } from "../limits.ts";
import type { Model, Prices, Route, TieredPrices, Usage } from "./model.ts";
import { guessTokens } from "./chat-tokens.ts";

export interface PricedRequest {
  model: Pick<Model, "contextLength" | "maxOutputTokens"> & Partial<Pick<Model, "kind">>;
  /** The routes that may serve; the most expensive one decides. */
  routes: readonly Route[];
  /** Upper bound of the provider's token count for the request (`inputTokensBound` with `addedBytes`). */
  inputTokens: number;
  /** The estimate of that count (`inputTokensEstimate`). Absent: `needsEstimate` says that none is needed. */
  promptTokens?: number | undefined;
  /** Whether tools are sent, which makes the provider's hidden prompt larger. */
  tools: boolean;
  /** The request's bound on output tokens; null: the model's maximum, or what the prompt leaves of the context. */
  maxTokens: number | null;
}

interface MaximumCost {
  /** Rounded up. */
  amount: NanoUsd;
  /** The bound that must be sent to the provider, or the amount is not an upper bound. */
  maxOutputTokens: number;
  /** Including the provider's hidden prompt, capped by the context window; the largest of all routes. */
  inputTokens: number;
}

/**
 * The maximum cost of an answer by any of these routes, if the provider counts within the bounds. A call with an own key costs nothing. The
 * prompt counts with its upper bound and the output with the bound that is sent, so the amount stays an upper bound however wrong an
 * estimate of the prompt is.
 * @throws RangeError when no route is given or one has no price
 */
export function maximumCost(request: PricedRequest): MaximumCost {
  const { model, routes, inputTokens, tools } = request;
  const maxOutputTokens = outputBound(request);
  let dearest = 0n;
  let largestInput = 0;
  for (const route of routes) {
    const bound = Math.min(inputTokens + hiddenInputTokens(route, tools), promptTokensMax(model));
    const pico = route.ownKey ? 0n : highestTierCost(pricesOf(route), { promptTokens: bound, completionTokens: maxOutputTokens });
    if (pico > dearest) dearest = pico;
    largestInput = Math.max(largestInput, bound);
  }
  if (routes.length === 0) throw new RangeError("Cannot bound the cost of a request that no route may serve");
  return { amount: nanoRoundedUp(dearest), maxOutputTokens, inputTokens: largestInput };
}

/** No text has this many bytes a token, except long runs of one character: a longer prompt fills the context without being estimated. */
const bytesPerTokenMax = 16;

/** Whether the output of a request depends on how long its prompt is: only then is the prompt estimated, which takes time. */
export function needsEstimate(
  { contextLength, maxOutputTokens, routes }: Pick<Model, "contextLength" | "maxOutputTokens" | "routes">,
  { inputTokens, tools }: Pick<PricedRequest, "inputTokens" | "tools">,
): boolean {
  const isTight = inputTokens + largestHiddenPrompt(routes, tools) + maxOutputTokens > contextLength;
  return isTight && inputTokens <= contextLength * bytesPerTokenMax && !routes.every(hasOutputOutsideContext);
}

/**
 * The tier whose prices apply to a whole request, output included; null: those below every tier.
 * @param tiers ascending
 * @param promptTokens as the provider counted them, cached tokens included
 */
export function tierOf<Tier extends { aboveInputTokens: number }>(
  tiers: readonly Tier[] | undefined,
  promptTokens: number,
): Tier | null {
  return tiers?.findLast(({ aboveInputTokens }) => promptTokens > aboveInputTokens) ?? null;
}

/**
 * The exact cost in pico-USD. Every prompt token falls into one of three classes (read from the cache, written to it, neither), so none
 * is charged twice even if a provider's parts exceed their total.
 * @param prices of the tier that the prompt reached
 */
export function chargedCost(prices: Prices, usage: Usage): bigint {
  const cacheRead = Math.min(usage.cachedTokens, usage.promptTokens);
  const cacheWrite = Math.min(usage.cacheWriteTokens, usage.promptTokens - cacheRead);
  const uncached = usage.promptTokens - cacheRead - cacheWrite;
  return (
    picoCost(uncached, prices.input) +
    picoCost(cacheRead, prices.cacheRead) +
    picoCost(cacheWrite, prices.cacheWrite) +
    picoCost(usage.completionTokens, prices.output)
  );
}

/** `chargedCost` at the prices of the tier that the prompt reached. */
export function tieredCost(prices: TieredPrices, usage: Usage): bigint {
  return chargedCost(tierOf(prices.tiers, usage.promptTokens) ?? prices, usage);
}

/** The number of tokens that a provider may add to a prompt. */
export function hiddenInputTokens(route: Pick<Route, "hiddenInputTokens">, tools: boolean): number {
  return route.hiddenInputTokens ?? (tools ? hiddenInputTokensWithTools : hiddenInputTokensDefault);
}

/** Our estimate may be a fifth below the provider's count: a smaller vocabulary takes more tokens for the same text. */
const estimateMargin = 1 / 4;

/**
 * The output bound that is sent to a provider. Many refuse a request whose prompt and output bound together exceed the context. A client's
 * bound is only capped at the model's. Without one, the prompt decides: what its upper bound leaves certainly fits, and what its estimate
 * with a margin leaves very likely does. If the margin takes more than half of the room, the answer still gets half. It always gets
 * something: the provider decides whether so long a prompt fits.
 */
function outputBound({ model, routes, inputTokens, promptTokens, tools, maxTokens }: PricedRequest): number {
  const { contextLength, maxOutputTokens } = model;
  const most = Math.min(maxTokens ?? maxOutputTokens, maxOutputTokens, contextLength);
  if (maxTokens !== null || routes.every(hasOutputOutsideContext)) return most;
  const hidden = largestHiddenPrompt(routes, tools);
  const certain = contextLength - hidden - inputTokens;
  if (certain >= most) return most;
  const prompt = promptTokens ?? guessTokens(inputTokens);
  const room = contextLength - hidden - prompt;
  const likely = Math.floor(Math.max(room - prompt * estimateMargin, room / 2));
  const least = Math.min(outputTokensMin, Math.ceil(contextLength / 16));
  return Math.min(most, Math.max(certain, likely, least));
}

/** Google's models have separate limits: their context for the prompt, and another for the output. */
function hasOutputOutsideContext({ format }: Route): boolean {
  return format === "google";
}

function largestHiddenPrompt(routes: readonly Route[], tools: boolean): number {
  return routes.reduce((largest, route) => Math.max(largest, hiddenInputTokens(route, tools)), 0);
}

/** Each input of an embeddings request is bounded by the context on its own, before they are added up (`embeddingTokensBound`). */
function promptTokensMax({ kind, contextLength }: PricedRequest["model"]): number {
  return kind === "embeddings" ? Infinity : contextLength;
}

/** The maximum over all tiers that a prompt within the bound can reach, each with its longest prompt: longer prompts may be cheaper. */
function highestTierCost(prices: TieredPrices, bounds: { promptTokens: number; completionTokens: number }): bigint {
  const costAt = (tier: Prices, promptTokens: number): bigint =>
    picoCost(promptTokens, highestInputPrice(tier)) + picoCost(bounds.completionTokens, tier.output);
  if (prices.tiers === undefined) return costAt(prices, bounds.promptTokens);
  const reached = prices.tiers.filter(({ aboveInputTokens }) => aboveInputTokens < bounds.promptTokens);
  const costs = [prices, ...reached].map((tier, index) => costAt(tier, reached[index]?.aboveInputTokens ?? bounds.promptTokens));
  return costs.reduce((dearest, cost) => (cost > dearest ? cost : dearest));
}

function highestInputPrice({ input, cacheRead, cacheWrite }: Prices): PicoUsdPerToken {
  return [input, cacheRead, cacheWrite].reduce((dearest, price) => (price > dearest ? price : dearest));
}

function pricesOf(route: Route): TieredPrices {
  if (route.prices === null) throw new RangeError(`Cannot bound a cost: provider "${route.provider.id}" has no price`);
  return route.prices;
}
