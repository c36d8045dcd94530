/** Routes that cost more than their reservation: other routes of the model are preferred for some time. A sole route still serves. */
import type { Clock } from "../../../kernel/clock.ts";
import { routeCoolDownMs } from "../../limits.ts";
import type { Candidate } from "../routing/candidate.ts";
import type { Route } from "../model.ts";

export class RouteCoolDown {
  readonly #clock: Clock;
  /** The end of each cool-down in monotonic milliseconds, by `Route.entry`. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin({ entry }: Pick<Route, "entry">): void {
    this.#until.set(entry, this.#clock.monotonic() + routeCoolDownMs);
  }

  /** The same candidates, of each model those in cool-down last. */
  preferred(candidates: readonly Candidate[]): readonly Candidate[] {
    if (this.#until.size === 0) return candidates;
    const now = this.#clock.monotonic();
    for (const [entry, until] of this.#until) if (until <= now) this.#until.delete(entry);
    const cooling = ({ route }: Candidate): number => (!route.ownKey && this.#until.has(route.entry) ? 1 : 0);
    const byModel = Map.groupBy(candidates, ({ model }) => model.id);
    return [...byModel.values()].flatMap((some) => some.toSorted((a, b) => cooling(a) - cooling(b)));
  }
}
