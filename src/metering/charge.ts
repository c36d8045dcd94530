/** From a settlement to what the ledger books: the true cost, rounded once. */
import { nanoRoundedHalfUp, type NanoUsd } from "../kernel/money.ts";
import { chargedCost } from "../models/price.ts";
import type { Settlement } from "../generations/settlement.ts";

export interface Charge {
  settlement: Settlement;
  costPico: bigint;
  cost: NanoUsd;
}

/** What the route that served asks for what it counted. Zero-token endings cost nothing. */
export function chargeOf(settlement: Settlement): Charge {
  const { input, output, cacheRead, cacheWrite } = settlement.prices;
  const prices = { input: BigInt(input), output: BigInt(output), cacheRead: BigInt(cacheRead), cacheWrite: BigInt(cacheWrite) };
  const costPico = chargedCost(prices, settlement.usage);
  return { settlement, costPico, cost: nanoRoundedHalfUp(costPico) };
}
