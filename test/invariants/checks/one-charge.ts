import { claimMs } from "../../../src/backing/limits.ts";
import { idempotencyMs } from "../../../src/gateway/limits.ts";
import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type Charged, type History } from "../history.ts";
import { lostByBoth, withoutLost } from "../without-lost.ts";

/**
 * I-23: of the requests with one idempotency key at most one is charged within a day, whatever was lost. A provider is called for another
 * one only if those before have ended and left nothing, unless database and stream have both lost how one ended. The counters remember who
 * has a key for 21 minutes by their clock: after that, one that has no end yet keeps no other from running.
 */
export function oneCharge(history: History): Finding {
  const notes = new Notes();
  const keyed = eventsOf(history, "admitted").filter(({ claim }) => claim !== undefined);
  const claims = new Map(keyed.map(({ generation, claim = "" }) => [generation, claim]));
  const admittedAt = new Map(keyed.map((event) => [event.generation, event.admittedAt]));
  checkCharges(withoutLost(history), { claims, notes });
  checkCalls(history, { claims, admittedAt, notes });
  return notes;
}

interface Checking {
  /** By generation. */
  claims: ReadonlyMap<string, string>;
  notes: Notes;
}

function checkCharges(history: History, { claims, notes }: Checking): void {
  /** The end of each generation: a true charge replaces an end that was unknown. */
  const ends = new Map(eventsOf(history, "charged").map((end) => [end.generation, end]));
  const paid = [...ends.values()].filter(({ generation, cost }) => cost > 0n && claims.has(generation));
  for (const [claim, charges] of Map.groupBy(paid, ({ generation }) => claims.get(generation))) {
    const times = charges.map(({ admittedAt = 0 }) => admittedAt).toSorted((a, b) => a - b);
    const gaps = times.slice(1).map((time, place) => time - (times[place] ?? 0));
    const named = charges.map(({ generation, cost }) => `${generation} ${cost}`).join(" and ");
    notes.check(Math.min(...gaps, idempotencyMs) >= idempotencyMs, () => `${claim}: charged twice, for ${named}`);
  }
}

function checkCalls(
  history: History,
  { claims, admittedAt, notes }: Checking & { admittedAt: ReadonlyMap<string, number> },
): void {
  const lost = lostByBoth(history);
  const called = new Map<string, Set<string>>();
  const ends = new Map<string, Charged>();
  const isForgotten = (other: string, by: string): boolean =>
    !ends.has(other) && (admittedAt.get(by) ?? 0) - (admittedAt.get(other) ?? 0) >= claimMs;
  for (const event of history) {
    if (event.kind === "charged") ends.set(event.generation, event);
    const claim = event.kind === "called" ? claims.get(event.generation) : undefined;
    if (event.kind !== "called" || claim === undefined) continue;
    const { generation, at } = event;
    const others = called.get(claim) ?? new Set();
    called.set(claim, others);
    if (others.has(generation)) continue;
    for (const other of others) {
      const end = ends.get(other);
      const isFree = end !== undefined && !end.hasLeft;
      const how = (): string => (end === undefined ? "was not over" : "was spent on it");
      notes.check(
        isFree || lost.has(other) || isForgotten(other, generation),
        () => `${generation}: called at ${at}, although ${other} with its key ${how()}`,
      );
    }
    others.add(generation);
  }
}
