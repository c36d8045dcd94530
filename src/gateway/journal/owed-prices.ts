import { nanoRoundedHalfUp } from "../../kernel/money.ts";
import type { Usage } from "../models/model.ts";
import { chargedCost, tierOf } from "../models/price.ts";
import type { Settlement } from "./settlement.ts";
import type { OwedRoute } from "./spool-line.ts";

type OwedPrices = Pick<OwedRoute, "prices" | "tiers">;

/**
 * The prices that a settlement is charged with: those of the tier that the prompt reached, or zero with a workspace's own key.
 * @param usage the charged counts, cached tokens included in those of the prompt
 */
export function owedPrices(owed: OwedRoute, usage: Usage): Pick<Settlement, "prices" | "tierAboveTokens" | "ownKey"> {
  if (owed.ownKey === undefined) return tierPrices(owed, usage);
  const { prices: listed, ...tier } = tierPrices(owed.ownKey, usage);
  const listCost = nanoRoundedHalfUp(chargedCost(parsePrices(listed), usage));
  return { ...tier, prices: owed.prices, ownKey: { id: owed.ownKey.id, listCost: cappedAmount(listCost) } };
}

function tierPrices({ prices, tiers }: OwedPrices, { promptTokens }: Usage): Pick<Settlement, "prices" | "tierAboveTokens"> {
  const tier = tierOf(tiers, promptTokens);
  if (tier === null) return { prices };
  const { aboveInputTokens, ...reached } = tier;
  return { prices: reached, tierAboveTokens: aboveInputTokens };
}

/** The prices of a settlement or a spool line, as numbers. */
export function parsePrices({ input, output, cacheRead, cacheWrite }: Settlement["prices"]) {
  return { input: BigInt(input), output: BigInt(output), cacheRead: BigInt(cacheRead), cacheWrite: BigInt(cacheWrite) };
}

/** The maximum of a ledger column. */
export const amountMax = 2n ** 63n - 1n;

function cappedAmount(amount: bigint): string {
  return (amount < amountMax ? amount : amountMax).toString();
}
