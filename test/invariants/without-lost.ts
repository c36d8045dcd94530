import type { GenerationId } from "../../src/kernel/ids.ts";
import { eventsOf, type History } from "./history.ts";

/** The history without what a database that went back in time has lost. */
export function withoutLost(history: History): History {
  const lost = new Set<unknown>(eventsOf(history, "restored").flatMap((event) => event.lost));
  return lost.size === 0 ? history : history.filter((event) => !lost.has(event));
}

/**
 * Generations whose charge the database lost, and whose event the stream lost, in either order. Once a charge is booked, its gateway no
 * longer keeps it, so these may be lost for good.
 */
export function lostByBoth(history: History): ReadonlySet<GenerationId> {
  const ofStream = new Set(eventsOf(history, "events lost").flatMap(({ generations }) => generations));
  const ofDatabase = eventsOf(history, "restored").flatMap(({ lost }) =>
    lost.flatMap((event) => (event.kind === "charged" ? event.generation : [])),
  );
  return new Set(ofDatabase).intersection(ofStream);
}
