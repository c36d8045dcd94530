/**
 * Settlement, once: charges, ledger, month totals and request log in one transaction, then the absolute push and the release
 * of holds. Whatever is repeated after a crash finds its charge there and only pushes again.
 */
import type { AccountPush, Counters, KeyMonthPush, Resolve } from "../../backing/counters.ts";
import type { GenerationId } from "../../kernel/ids.ts";
import type { Settlement } from "../journal/settlement.ts";
import { chargeOf, type Charge } from "./charge.ts";

/** The ledger of record. `store.ts` is SQL; a simulation may bring its own. */
export interface SettlementStore {
  /** Books each charge that is not booked yet, all in one transaction, and returns the state after it. */
  settle(charges: Charge[]): Promise<Booked>;
}

export interface Booked {
  /** Booked by this very call, and what was charged for each. */
  fresh: Map<GenerationId, Pick<Charge, "cost" | "excess">>;
  /** Of workspaces that do not exist: nothing was booked for them. */
  refused: Set<GenerationId>;
  /** Charged after their hold had been given up: money outside of every reservation. */
  late: Set<GenerationId>;
  /** The heads and totals of all that was named, for the counters. */
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
}

export interface SettleParts {
  store: SettlementStore;
  counters: Counters;
}

/**
 * @param settlements at most one for each generation
 * @returns what was asked for and what was booked of it
 * @throws when the ledger or the counters did not answer: settle the same again
 */
export async function settle(
  settlements: Settlement[],
  { store, counters }: SettleParts,
): Promise<{ charges: Charge[]; booked: Booked }> {
  const charges = settlements.map(chargeOf);
  const booked = await store.settle(charges);
  const resolve: Resolve[] = charges
    .filter(({ settlement }) => !booked.refused.has(settlement.generation))
    .map(({ settlement }) => ({
      workspace: settlement.workspace,
      generation: settlement.generation,
      as: settlement.outcome,
    }));
  await counters.resolveMany({ resolve, accounts: booked.accounts, keyMonths: booked.keyMonths });
  return { charges, booked };
}

/** In the order of ids, which is the order in which rows are locked. What is known beats what is not. */
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
