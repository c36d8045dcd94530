import { Notes, type Finding } from "../evidence.ts";
import type { Admitted, History } from "../history.ts";

/**
 * I-1: each call of a provider has an open reservation, and the charge does not exceed it. Nor does the cost of an answer whose provider
 * counted within the bounds of its request.
 */
export function reservedBeforeCalled(history: History): Finding {
  const notes = new Notes();
  const admitted = new Map<string, Admitted>();
  const closed = new Map<string, string>();
  const called = new Set<string>();
  for (const event of history) {
    if (event.kind === "admitted") admitted.set(event.generation, event);
    if (event.kind === "released") closed.set(event.generation, "was released");
    if (event.kind === "called") {
      const { generation, at } = event;
      notes.check(admitted.has(generation), () => `${generation}: called at ${at} without a reservation`);
      // A second try belongs to the first call, and its hold may have ended meanwhile. The charge shows the outcome.
      notes.check(
        called.has(generation) || !closed.has(generation),
        () => `${generation}: called at ${at} after it ${closed.get(generation)}`,
      );
      called.add(generation);
    }
    if (event.kind === "served" && !event.isOnOwnKey && !event.isAboveBound) {
      const { generation, cost } = event;
      const reserved = admitted.get(generation)?.amount ?? cost;
      notes.check(cost <= reserved, () => `${generation}: ${cost} counted within its bounds, reserved ${reserved}`);
    }
    if (event.kind === "charged") {
      const { generation, cost, reserved } = event;
      closed.set(generation, `was ${event.outcome}`);
      const own = admitted.get(generation);
      notes.check(
        own === undefined || own.amount === reserved,
        () => `${generation}: ${own?.amount} reserved, ${reserved} in its charge`,
      );
      notes.check(cost <= reserved, () => `${generation}: charged ${cost}, reserved ${reserved}`);
    }
  }
  return notes;
}
