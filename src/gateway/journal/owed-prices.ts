import { tierOf } from "../models/price.ts";
import type { Settlement } from "./settlement.ts";
import type { OwedRoute } from "./spool-line.ts";

/**
 * The prices that a settlement is charged with: those of the tier that the prompt reached.
 * @param promptTokens the charged count, cached tokens included
 */
export function owedPrices(
  { prices, tiers }: Pick<OwedRoute, "prices" | "tiers">,
  promptTokens: number,
): Pick<Settlement, "prices" | "tierAboveTokens"> {
  const tier = tierOf(tiers, promptTokens);
  if (tier === null) return { prices };
  const { aboveInputTokens, ...reached } = tier;
  return { prices: reached, tierAboveTokens: aboveInputTokens };
}
