import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type Charged, type History } from "../history.ts";
import { lostByBoth } from "../without-lost.ts";

/**
 * I-8: after the run, each generation whose provider was called has exactly one end in the ledger, and nothing else is charged.
 * The charge is the provider's final count, a complete answer is settled, and no delivered text is free. A generation that died
 * with its gateway is charged for what was delivered, and for its prompt: the gateway notes a call before it makes it, and may die
 * between the two. A charge that a complete answer shows is the one that is booked. What both database and stream lost may have no end, or
 * expire where its hold still stood; nor has what was admitted with a block whose gateway was lost with its disk, and then the block has one.
 */
export function chargedOnce(history: History): Finding {
  const notes = new Notes();
  const ends = new Map<string, Charged[]>();
  for (const charged of eventsOf(history, "charged")) {
    ends.set(charged.generation, [...(ends.get(charged.generation) ?? []), charged]);
  }
  const called = new Set(eventsOf(history, "called").map(({ generation }) => generation));
  const lost = lostByBoth(history);
  const blocks = new Map(eventsOf(history, "admitted").map(({ generation, block }) => [generation, block]));
  const isLost = (generation: string): boolean => {
    return lost.has(generation) || ends.get(blocks.get(generation) ?? "")?.[0]?.outcome === "expired";
  };
  for (const generation of called)
    notes.check(ends.has(generation) || isLost(generation), () => `${generation}: its provider was called, but it has no end`);
  for (const [generation, all] of ends) {
    const known = all.find(({ knownBy }) => knownBy !== undefined);
    notes.check(known === undefined, () => `${generation}: expired, although ${known?.knownBy} had it open`);
    notes.check(
      isOneEnd(all),
      () => `${generation}: ended as ${all.map(({ outcome, cost }) => `${outcome} ${cost}`).join(", ")}`,
    );
    notes.check(
      called.has(generation) || all.every(({ cost, cut }) => cost === 0n || cut),
      () => `${generation}: charged, but no provider was called`,
    );
  }
  const whole = eventsOf(history, "served").filter(({ isPartial }) => !isPartial);
  const costs = new Map(whole.map(({ generation, cost }) => [generation, cost]));
  for (const [generation, cost] of costs) {
    const last = ends.get(generation)?.at(-1);
    const isUnknown = last?.outcome !== "settled" || last.cut;
    const booked = last?.ownKey?.listCost ?? (last?.cost ?? 0n) + (last?.excess ?? 0n);
    notes.check(isUnknown || booked === cost, () => `${generation}: its provider counted ${cost}, but ${booked} is booked`);
  }
  for (const { generation, whole, status, told, deliveredBytes = 0 } of eventsOf(history, "answered")) {
    const last = ends.get(generation ?? "")?.at(-1);
    const mayExpire = (last === undefined || last.outcome === "expired") && isLost(generation ?? "");
    if (whole && status === 200 && !mayExpire) {
      notes.check(
        last?.outcome === "settled" && !last.cut,
        () => `${generation}: answered in full, but ended as ${last?.outcome}`,
      );
    }
    if (whole && told !== undefined && last !== undefined && !mayExpire) {
      const isTold = told === last.cost || told === last.cost + last.excess;
      notes.check(isTold, () => `${generation}: its answer says that it costs ${told}, but ${last.cost} is charged`);
    }
    const isCharged = last?.ownKey !== undefined || (last?.cost ?? 0n) + (last?.excess ?? 0n) > 0n;
    const isFree = last?.outcome === "settled" && !isCharged && costs.get(generation ?? "") !== 0n;
    notes.check(deliveredBytes === 0 || !isFree, () => `${generation}: ${deliveredBytes} bytes were delivered without a charge`);
  }
  return notes;
}

/** A generation that expired or ended as unknown may still be charged late. */
function isOneEnd([first, second, ...more]: Charged[]): boolean {
  if (more.length > 0 || first === undefined) return false;
  if (second === undefined) return true;
  return first.outcome !== "settled" && first.cost === 0n && second.outcome === "settled" && second.late;
}
