/** Routes that cost more than their reservation: other routes are preferred for some time. A sole route still serves. */
import type { Clock } from "../../../kernel/clock.ts";
import { routeCoolDownMs } from "../../limits.ts";
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

  /** The same routes, those in cool-down last. */
  preferred<Some extends readonly Route[]>(routes: Some): Some {
    if (this.#until.size === 0) return routes;
    const now = this.#clock.monotonic();
    for (const [entry, until] of this.#until) if (until <= now) this.#until.delete(entry);
    const cooling = (route: Route): number => (this.#until.has(route.entry) ? 1 : 0);
    return routes.toSorted((a, b) => cooling(a) - cooling(b)) as readonly Route[] as Some;
  }
}
