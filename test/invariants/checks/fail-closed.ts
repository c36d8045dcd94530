import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type History } from "../history.ts";

const closedCodes = ["auth_unavailable", "billing_unavailable"];
/** The ledger alone refuses these. */
const spentCodes = ["idempotency_spent", "idempotency_mismatch"];

/**
 * I-12: while a part that admission needs is down, from the moment when this must be known, no provider is called for new requests, and
 * clients get one of the two 503 codes. Before the counters are asked, a worker may say that an idempotency key is spent, or that too many
 * new ones came (429). A gateway may still recognise a revoked key, and admit with a block that it has: I-22 bounds that.
 */
export function failClosed(history: History): Finding {
  const notes = new Notes();
  /** When each fault began to close admission, by the fault's name. */
  const closing = new Map<string, number>();
  const requests = new Map<string, { at: number; key: string; isKeyed?: true }>();
  const revoked = new Set(eventsOf(history, "revoked").map(({ key }) => key));
  const admitted = new Map<string, number>();
  /** Generations that were admitted with a block, and their requests. */
  const withBlock = new Set<string>();
  const sinceOf = (at: number): number => Math.min(...[...closing.values()].filter((since) => since <= at));
  for (const event of history) {
    if (event.kind === "fault") {
      if (event.phase === "ends") closing.delete(event.name);
      else if (event.closesAfterMs !== undefined) closing.set(event.name, event.at + event.closesAfterMs);
    }
    if (event.kind === "invoked") requests.set(event.invocation, event);
    if (event.kind === "healed") closing.clear();
    if (event.kind === "admitted" && event.block !== undefined)
      withBlock.add(event.generation).add(event.invocation ?? event.generation);
    if (event.kind === "admitted") admitted.set(event.generation, requests.get(event.invocation ?? "")?.at ?? event.at);
    const since = sinceOf(event.at);
    if (since === Infinity) continue;
    if (event.kind === "called" && withBlock.has(event.generation)) continue;
    if (event.kind === "answered" && withBlock.has(event.invocation)) continue;
    if (event.kind === "called") {
      const at = admitted.get(event.generation) ?? event.at;
      notes.check(
        at < since,
        () =>
          `${event.generation}: requested at ${at} and called at ${event.at}, although "${namesOf(closing)}" closed admission at ${since}`,
      );
    }
    const own = event.kind === "answered" ? requests.get(event.invocation) : undefined;
    if (event.kind === "answered" && own !== undefined && own.at >= since) {
      const { invocation, status, code } = event;
      const isKnown = status === 401 && revoked.has(own.key);
      const hasManyKeys = code === "rate_limited" && own.isKeyed === true;
      const isClosed =
        isKnown || hasManyKeys || spentCodes.includes(code ?? "") || (status === 503 && closedCodes.includes(code ?? ""));
      notes.check(
        isClosed,
        () => `${invocation}: ${status} ${code} at ${event.at}, although "${namesOf(closing)}" closed admission at ${since}`,
      );
    }
  }
  return notes;
}

function namesOf(closing: Map<string, number>): string {
  return [...closing.keys()].join(" and ");
}
