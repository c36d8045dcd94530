/** Records the history of a run. */
import { createHash } from "node:crypto";
import type { HistoryEvent } from "../invariants/history.ts";
import type { Chance } from "./chance.ts";
import type { Scheduler } from "./scheduler.ts";

type Noted = HistoryEvent extends infer One ? (One extends HistoryEvent ? Omit<One, "at"> : never) : never;

export class Recorder {
  readonly history: HistoryEvent[] = [];
  readonly #scheduler: Scheduler;
  readonly #chance: Chance;

  constructor(scheduler: Scheduler, chance: Chance) {
    this.#scheduler = scheduler;
    this.#chance = chance;
  }

  note(event: Noted): void {
    this.history.push({ ...event, at: this.#scheduler.now });
  }

  /** Whether to compare the counters before and after a decision. It is expensive, so only some decisions are compared. */
  isInspected(): boolean {
    return this.#chance.happens(0.1);
  }
}

export function eventText(event: HistoryEvent): string {
  return JSON.stringify(event, (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
}

/** Equal histories have equal hashes. */
export function hashOfHistory(history: readonly HistoryEvent[]): string {
  const hash = createHash("sha256");
  for (const event of history) hash.update(eventText(event)).update("\n");
  return hash.digest("hex");
}
