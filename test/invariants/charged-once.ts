import { Notes, type Finding } from "./evidence.ts";
import { eventsOf, type Charged, type History } from "./history.ts";

/**
 * I-8: once all is quiet, each generation whose provider was called has exactly one end in the ledger, nothing else is charged,
 * and an answer that a client got whole is charged what its provider counted.
 */
export function chargedOnce(history: History): Finding {
  const notes = new Notes();
  const ends = new Map<string, Charged[]>();
  for (const charged of eventsOf(history, "charged")) {
    ends.set(charged.generation, [...(ends.get(charged.generation) ?? []), charged]);
  }
  const called = new Set(eventsOf(history, "called").map(({ generation }) => generation));
  for (const generation of called)
    notes.check(ends.has(generation), () => `${generation}: its provider was called, and it has no end`);
  for (const [generation, all] of ends) {
    notes.check(
      isOneEnd(all),
      () => `${generation}: ended as ${all.map(({ outcome, cost }) => `${outcome} ${cost}`).join(", ")}`,
    );
    notes.check(
      called.has(generation) || all.every(({ cost }) => cost === 0n),
      () => `${generation}: charged, and nobody was called`,
    );
  }
  const costs = new Map(eventsOf(history, "served").map(({ generation, cost }) => [generation, cost]));
  for (const { generation, whole, status } of eventsOf(history, "answered")) {
    if (generation === null || !whole || status !== 200) continue;
    const last = ends.get(generation)?.at(-1);
    const cost = costs.get(generation);
    notes.check(last?.outcome === "settled" && (cost === undefined || last.cost === cost), () => {
      return `${generation}: answered whole, of which its provider counted ${cost}, and ended as ${last?.outcome} ${last?.cost}`;
    });
  }
  return notes;
}

/** What had been given up may still be charged, late. */
function isOneEnd([first, second, ...more]: Charged[]): boolean {
  if (more.length > 0 || first === undefined) return false;
  if (second === undefined) return true;
  return first.outcome !== "settled" && first.cost === 0n && second.outcome === "settled" && second.late;
}
