/**
 * How quickly each route writes, by what its provider counted: what a stream is charged by that was ended before its provider had
 * told a count. Of this process alone, and recent answers weigh most.
 */
import { presumedTokensPerSecond, routeSpeedTokensMin, routeSpeedWindowMs } from "../../limits.ts";
import type { Route } from "../model.ts";

interface Written {
  tokens: number;
  ms: number;
}

export class RouteSpeeds {
  /** By `Route.entry`. */
  readonly #written = new Map<string, Written>();

  /** An answer that was read as quickly as it came. @param ms from calling the route to the end of its answer */
  record({ entry }: Pick<Route, "entry">, { tokens, ms }: Written): void {
    // Most of the time of a short answer is not spent on writing.
    if (tokens < routeSpeedTokensMin) return;
    const sum = this.#written.get(entry) ?? { tokens: 0, ms: 0 };
    const kept = sum.ms > routeSpeedWindowMs ? 0.5 : 1;
    this.#written.set(entry, { tokens: sum.tokens * kept + tokens, ms: sum.ms * kept + Math.max(1, ms) });
  }

  /**
   * Tokens that the route writes in such a time.
   * @param hides it may write what it does not send: where nothing was measured a usual speed is presumed, else 0
   */
  estimateTokens({ entry }: Pick<Route, "entry">, { ms, hides }: { ms: number; hides: boolean }): number {
    const sum = this.#written.get(entry) ?? { tokens: hides ? presumedTokensPerSecond : 0, ms: 1_000 };
    return Math.ceil((sum.tokens / sum.ms) * Math.max(0, ms));
  }
}
