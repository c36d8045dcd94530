import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type History } from "../history.ts";

/**
 * I-17: a request that was sent to a provider is charged even if the client hangs up or the gateway dies: at least the amount that
 * was due by then, as far as the reservation covers it. An expired generation is excepted, since no process was left to report it.
 */
export function disconnectIsCharged(history: History): Finding {
  const notes = new Notes();
  const owed = new Map(eventsOf(history, "owed").map(({ generation, amount }) => [generation, amount]));
  for (const { generation, cost, isPartial, isOnOwnKey } of eventsOf(history, "served")) {
    if (isOnOwnKey) continue;
    const least = owed.get(generation) ?? 0n;
    // The provider's count replaces an estimate, even if it is lower.
    owed.set(generation, isPartial && cost > least ? least : cost);
  }
  const last = new Map(eventsOf(history, "charged").map((charged) => [charged.generation, charged]));
  for (const [generation, amount] of owed) {
    const charged = last.get(generation);
    if (charged === undefined || charged.outcome === "expired") continue;
    const sum = charged.cost + charged.excess;
    // For a generation that died with its gateway only the prompt is certain to be due.
    const isPaid = charged.cut ? sum > 0n || amount === 0n : sum >= amount;
    notes.check(isPaid, () => `${generation}: ${amount} is due, but it ended as ${charged.outcome} with ${sum}`);
  }
  return notes;
}
