import { Notes, type Finding } from "./evidence.ts";
import { eventsOf, type History } from "./history.ts";

const closedCodes = ["auth_unavailable", "billing_unavailable"];

/**
 * I-12: while a part that admission cannot do without is gone, and from the moment that this must be known, no provider is called
 * for a request of that time, and whoever asks is told 503 in one of the two ways. That a key was revoked may be known all the same.
 */
export function failClosed(history: History): Finding {
  const notes = new Notes();
  /** When each began to close, by its name. */
  const closing = new Map<string, number>();
  const asked = new Map<string, { at: number; key: string }>();
  const revoked = new Set(eventsOf(history, "revoked").map(({ key }) => key));
  const admitted = new Map<string, number>();
  const sinceOf = (at: number): number => Math.min(...[...closing.values()].filter((since) => since <= at));
  for (const event of history) {
    if (event.kind === "fault") {
      if (event.phase === "ends") closing.delete(event.name);
      else if (event.closesAfterMs !== undefined) closing.set(event.name, event.at + event.closesAfterMs);
    }
    if (event.kind === "invoked") asked.set(event.invocation, event);
    if (event.kind === "healed") closing.clear();
    if (event.kind === "admitted") admitted.set(event.generation, asked.get(event.invocation ?? "")?.at ?? event.at);
    const since = sinceOf(event.at);
    if (since === Infinity) continue;
    if (event.kind === "called") {
      const at = admitted.get(event.generation) ?? event.at;
      notes.check(
        at < since,
        () => `${event.generation}: asked for at ${at} and called at ${event.at}, where ${namesOf(closing)} closed at ${since}`,
      );
    }
    const own = event.kind === "answered" ? asked.get(event.invocation) : undefined;
    if (event.kind === "answered" && own !== undefined && own.at >= since) {
      const { invocation, status, code } = event;
      const isKnown = status === 401 && revoked.has(own.key);
      const isClosed = isKnown || (status === 503 && closedCodes.includes(code ?? ""));
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
