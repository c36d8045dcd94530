import type { HistoryEvent } from "./history.ts";

/** Where times are equal, or exact only to a millisecond, events that free credit or limits come before those that use them. */
const first: readonly HistoryEvent["kind"][] = [
  "paid",
  "credited",
  "rate",
  "spend limit",
  "budget",
  "charged",
  "released",
  "invoked",
  "admitted",
  "reserved",
];

/** Sorts events from several sources by time. */
export function inOrder(events: readonly HistoryEvent[]): HistoryEvent[] {
  const rank = ({ kind }: HistoryEvent): number => (first.includes(kind) ? first.indexOf(kind) : first.length);
  return events.toSorted((a, b) => a.at - b.at || rank(a) - rank(b));
}
