/**
 * Settles once: generations, ledger and month totals in one transaction, then a push of absolute values to the counters and the release of
 * holds. A repetition after a crash finds its charge and only pushes again.
 * The push comes before the release: between the two a cost counts twice, and it is never left out. What was admitted with a block has no hold; its
 * gateway makes the block smaller after that push.
 */
import type { AccountPush, BudgetPush, Counters, KeyMonthPush, Resolve } from "../../backing/counters.ts";
import type { GenerationId } from "../../kernel/ids.ts";
import type { Settlement } from "../journal/settlement.ts";
import { chargeOf, type Charge } from "./booking.ts";

/** The ledger of record. `store.ts` is its SQL; the simulation has its own. */
export interface SettlementStore {
  /** Books all charges that are not booked yet in one transaction, and returns the state after it. */
  settle(charges: Charge[]): Promise<Booked>;
}

export interface Booked {
  /** Generations that this call booked, with their charges. */
  fresh: Map<GenerationId, Pick<Charge, "cost" | "excess">>;
  /** Generations of unknown workspaces, for which nothing was booked. */
  refused: Set<GenerationId>;
  /** Generations that were charged after their hold had been released, outside of every reservation. */
  late: Set<GenerationId>;
  /** The heads and totals of all named workspaces and keys, for the counters. */
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
  /** The totals of budgets that the ledger keeps; absent: none. */
  budgets?: BudgetPush[];
}

export interface SettleParts {
  store: SettlementStore;
  counters: Counters;
}

/**
 * @param settlements at most one for each generation
 * @returns the charges, and which of them were booked
 * @throws when the ledger or the counters did not answer: repeat the call
 */
export async function settle(
  settlements: Settlement[],
  { store, counters }: SettleParts,
): Promise<{ charges: Charge[]; booked: Booked }> {
  const charges = settlements.map(chargeOf);
  const booked = await store.settle(charges);
  const resolve: Resolve[] = charges
    .filter(({ settlement }) => !booked.refused.has(settlement.generation) && settlement.block === undefined)
    .map(({ settlement }) => ({
      workspace: settlement.workspace,
      generation: settlement.generation,
      as: settlement.outcome,
    }));
  const { accounts, keyMonths, budgets = [] } = booked;
  await counters.resolveMany({ resolve, accounts, keyMonths, ...(budgets.length > 0 && { budgets }) });
  return { charges, booked };
}

/** In the order of ids, in which rows are locked. A settled outcome replaces an unknown or expired one. */
export function oncePerGeneration(settlements: Settlement[]): Settlement[] {
  const chosen = new Map<GenerationId, Settlement>();
  for (const settlement of settlements) {
    const present = chosen.get(settlement.generation);
    if (!present || (present.outcome !== "settled" && settlement.outcome === "settled")) {
      chosen.set(settlement.generation, settlement);
    }
  }
  return [...chosen.values()].toSorted((a, b) => (a.generation < b.generation ? -1 : 1));
}
