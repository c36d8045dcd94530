import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type History } from "../history.ts";

/** I-16: no charge takes a balance below zero, however much a provider counts and however late the charge comes. */
export function noDebt(history: History): Finding {
  const notes = new Notes();
  const balances = new Map<string, bigint>();
  for (const { workspace, amount } of eventsOf(history, "credited"))
    balances.set(workspace, (balances.get(workspace) ?? 0n) + amount);
  for (const { workspace, generation, cost } of eventsOf(history, "charged")) {
    const balance = (balances.get(workspace) ?? 0n) - cost;
    balances.set(workspace, balance);
    notes.check(balance >= 0n, () => `${generation}: its charge of ${cost} left ${workspace} with ${balance}`);
  }
  return notes;
}
