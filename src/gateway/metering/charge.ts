/** From a settlement to the amount that the ledger books: the true cost, rounded once, and at most the reservation. */
import { nanoRoundedHalfUp, type NanoUsd } from "../../kernel/money.ts";
import { amountMax, parsePrices } from "../journal/owed-prices.ts";
import { chargedCost } from "../models/price.ts";
import type { Settlement } from "../journal/settlement.ts";

export interface Charge {
  settlement: Settlement;
  /** The true cost. */
  costPico: bigint;
  /** The charge: the true cost, or the reservation if that is less. */
  cost: NanoUsd;
  /** The part of the true cost above the charge, which the service bears. */
  excess: NanoUsd;
}

/** Applies the route's prices to its token counts. A generation without tokens costs nothing. */
export function chargeOf(settlement: Settlement): Charge {
  const costPico = chargedCost(parsePrices(settlement.prices), settlement.usage);
  const trueCost = minimum(nanoRoundedHalfUp(costPico), amountMax);
  const cost = minimum(trueCost, BigInt(settlement.reserved));
  return { settlement, costPico, cost, excess: trueCost - cost };
}

export function minimum(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
