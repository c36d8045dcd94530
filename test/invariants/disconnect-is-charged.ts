import { Notes, type Finding } from "./evidence.ts";
import { eventsOf, type History } from "./history.ts";

/**
 * I-17: whoever leaves, and whatever gateway dies, what a provider was sent is charged: at least what is owed by then, less what
 * the reservation does not hold. Of a generation that expired nobody was left to tell.
 */
export function disconnectIsCharged(history: History): Finding {
  const notes = new Notes();
  const owed = new Map(eventsOf(history, "owed").map(({ generation, amount }) => [generation, amount]));
  for (const { generation, cost, isPartial } of eventsOf(history, "served")) {
    const least = owed.get(generation) ?? 0n;
    // What its provider counted stands, even below an estimate.
    owed.set(generation, isPartial && cost > least ? least : cost);
  }
  const last = new Map(eventsOf(history, "charged").map((charged) => [charged.generation, charged]));
  for (const [generation, amount] of owed) {
    const charged = last.get(generation);
    if (charged === undefined || charged.outcome === "expired") continue;
    const sum = charged.cost + charged.excess;
    // Of one that died with its gateway the prompt is owed for certain, which is charged before all else.
    const isPaid = charged.cut ? sum > 0n || amount === 0n : sum >= amount;
    notes.check(isPaid, () => `${generation}: ${amount} is owed, and it ended as ${charged.outcome} with ${sum}`);
  }
  return notes;
}
