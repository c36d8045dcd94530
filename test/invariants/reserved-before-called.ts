import { Notes, type Finding } from "./evidence.ts";
import type { Admitted, History } from "./history.ts";

/** I-1: no provider is called without a reservation that is there and that covers what is charged. */
export function reservedBeforeCalled(history: History): Finding {
  const notes = new Notes();
  const admitted = new Map<string, Admitted>();
  const closed = new Map<string, string>();
  const called = new Set<string>();
  for (const event of history) {
    if (event.kind === "admitted") admitted.set(event.generation, event);
    if (event.kind === "released") closed.set(event.generation, "was given up");
    if (event.kind === "called") {
      const { generation, at } = event;
      notes.check(admitted.has(generation), () => `${generation}: called at ${at} without a reservation`);
      // A second try belongs to the first: what befell its hold meanwhile is told by how it is charged.
      notes.check(
        called.has(generation) || !closed.has(generation),
        () => `${generation}: called at ${at} after it ${closed.get(generation)}`,
      );
      called.add(generation);
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
