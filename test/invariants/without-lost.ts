import { eventsOf, type History } from "./history.ts";

/** The history without what a database that went back in time has lost. */
export function withoutLost(history: History): History {
  const lost = new Set<unknown>(eventsOf(history, "restored").flatMap((event) => event.lost));
  return lost.size === 0 ? history : history.filter((event) => !lost.has(event));
}
