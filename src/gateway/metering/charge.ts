/** From a settlement to what the ledger books: the true cost, rounded once, and of it no more than was reserved. */
import { nanoRoundedHalfUp, type NanoUsd } from "../../kernel/money.ts";
import { chargedCost } from "../models/price.ts";
import type { Settlement } from "../journal/settlement.ts";

export interface Charge {
  settlement: Settlement;
  /** The true cost. */
  costPico: bigint;
  /** What is charged: the true cost, or the reservation where that is less. */
  cost: NanoUsd;
  /** What the true cost has above it: the service's loss. */
  excess: NanoUsd;
}

/** What a column of the ledger holds. */
const amountMax = 2n ** 63n - 1n;

/** What the route that served asks for what it counted. Zero-token endings cost nothing. */
export function chargeOf(settlement: Settlement): Charge {
  const { input, output, cacheRead, cacheWrite } = settlement.prices;
  const prices = { input: BigInt(input), output: BigInt(output), cacheRead: BigInt(cacheRead), cacheWrite: BigInt(cacheWrite) };
  const costPico = chargedCost(prices, settlement.usage);
  const trueCost = minimum(nanoRoundedHalfUp(costPico), amountMax);
  const cost = minimum(trueCost, BigInt(settlement.reserved));
  return { settlement, costPico, cost, excess: trueCost - cost };
}

export function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
