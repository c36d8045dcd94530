/**
 * The output speed of each route, from its provider's token counts. A stream that ended before its provider reported a count is charged
 * by it. Each process measures for itself, and recent answers weigh most.
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

  /** Records an answer that was read without delays. @param ms from the call of the route to the end of its answer */
  record({ entry }: Pick<Route, "entry">, { tokens, ms }: Written): void {
    // A short answer takes most of its time before its first token.
    if (tokens < routeSpeedTokensMin) return;
    const sum = this.#written.get(entry) ?? { tokens: 0, ms: 0 };
    const kept = sum.ms > routeSpeedWindowMs ? 0.5 : 1;
    this.#written.set(entry, { tokens: sum.tokens * kept + tokens, ms: sum.ms * kept + Math.max(1, ms) });
  }

  /**
   * Estimates the tokens that the route writes in this time.
   * @param hides whether it may write tokens that it does not send; without measurements a usual speed is then assumed, otherwise 0
   */
  estimateTokens({ entry }: Pick<Route, "entry">, { ms, hides }: { ms: number; hides: boolean }): number {
    const sum = this.#written.get(entry) ?? { tokens: hides ? presumedTokensPerSecond : 0, ms: 1_000 };
    return Math.ceil((sum.tokens / sum.ms) * Math.max(0, ms));
  }
}
