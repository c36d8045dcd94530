import { Notes, type Finding } from "./evidence.ts";
import type { History } from "./history.ts";

const closedCodes = ["auth_unavailable", "billing_unavailable"];

/**
 * I-12: while a part that admission cannot do without is gone, and from the moment that this must be known, no provider is called
 * for a request of that time, and whoever asks is told 503 in one of the two ways.
 */
export function failClosed(history: History): Finding {
  const notes = new Notes();
  /** When each began to close, by its name. */
  const closing = new Map<string, number>();
  const asked = new Map<string, number>();
  const admitted = new Map<string, number>();
  const sinceOf = (at: number): number => Math.min(...[...closing.values()].filter((since) => since <= at));
  for (const event of history) {
    if (event.kind === "fault") {
      if (event.phase === "ends") closing.delete(event.name);
      else if (event.closesAfterMs !== undefined) closing.set(event.name, event.at + event.closesAfterMs);
    }
    if (event.kind === "invoked") asked.set(event.invocation, event.at);
    if (event.kind === "admitted") admitted.set(event.generation, event.at);
    const since = sinceOf(event.at);
    if (since === Infinity) continue;
    if (event.kind === "called") {
      const at = admitted.get(event.generation) ?? event.at;
      notes.check(
        at < since,
        () => `${event.generation}: admitted and called at ${event.at}, where ${namesOf(closing)} closed at ${since}`,
      );
    }
    if (event.kind === "answered" && (asked.get(event.invocation) ?? -Infinity) >= since) {
      const { invocation, status, code } = event;
      const isClosed = status === 503 && closedCodes.includes(code ?? "");
      notes.check(
        isClosed,
        () => `${invocation}: ${status} ${code} at ${event.at}, where ${namesOf(closing)} closed at ${since}`,
      );
    }
  }
  return notes;
}

function namesOf(closing: Map<string, number>): string {
  return [...closing.keys()].join(" and ");
}
