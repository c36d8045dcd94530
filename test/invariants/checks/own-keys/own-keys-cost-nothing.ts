import { Notes, type Finding } from "../../evidence.ts";
import { eventsOf, type Called, type Charged, type History } from "../../history.ts";

/**
 * I-18: a call with a workspace's own key is charged 0, and its list cost is the cost of the provider's count. A gateway that dies
 * charges for its last call, so it must not take a call with an own key for one on credit.
 */
export function ownKeysCostNothing(history: History): Finding {
  const notes = new Notes();
  const calls = new Map<string, Called>();
  const ends = new Map<string, Charged>();
  for (const event of history) {
    if (event.kind === "called") calls.set(event.generation, event);
    if (event.kind !== "charged") continue;
    const { generation, cost, excess, ownKey } = event;
    ends.set(generation, event);
    const call = calls.get(generation);
    // A request that was not sent has no payer.
    if (call === undefined) continue;
    const payer = call.ownKey ?? "the service's key";
    const isFree = cost + excess === 0n;
    if (call.ownKey !== undefined)
      notes.check(isFree, () => `${generation}: called with ${payer}, but charged ${cost} and ${excess}`);
    // Without a list cost it may name the route that was tried last and took no connection.
    if (ownKey !== undefined && ownKey.listCost > 0n)
      notes.check(ownKey.id === payer, () => `${generation}: booked on ${ownKey.id}, but called with ${payer}`);
  }
  for (const { generation, cost, isOnOwnKey, isPartial } of eventsOf(history, "served")) {
    const end = ends.get(generation);
    if (!isOnOwnKey || isPartial || end?.outcome !== "settled" || end.cut) continue;
    const listCost = end.ownKey?.listCost ?? "no";
    notes.check(listCost === cost, () => `${generation}: ${cost} counted on an own key, but ${listCost} list cost is booked`);
  }
  return notes;
}
