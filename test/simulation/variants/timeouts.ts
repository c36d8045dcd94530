/**
 * Runs whose providers need time to take a connection, count the prompt before they answer, and sometimes never answer in time. What they
 * draw is drawn from random numbers of their own, so that it changes nothing in runs without it.
 */
import { Chance } from "../chance.ts";

/** What a gateway leaves a workspace unpaid in an hour, in nano-USD: some requests of the workload. */
export const unpaidMax = 400_000n;

/** How long a gateway waits for a connection; a request may need two. */
export const connectMsMax = 5_000;

/** One of six runs has them. */
export function timeoutsOf(seed: number): Timeouts | null {
  return seed % 6 === 4 ? new Timeouts(new Chance(seed ^ 0x1b873593)) : null;
}

export class Timeouts {
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  /** How long a call waits for its connection; null: it has one that was kept. */
  connection(): { ms: number; fails: boolean } | null {
    if (this.#chance.happens(0.6)) return null;
    return { ms: this.#chance.between(1, 3_000), fails: this.#chance.happens(0.2) };
  }

  /** How long the gateway waits before it gives up a silent provider; null: it is not silent. */
  silenceMs(): number | null {
    return this.#chance.happens(0.15) ? this.#chance.between(2_000, 40_000) : null;
  }

  /** The prompt that the provider counts before it answers; null: it counts at the end. @param counted its count then */
  toldPrompt(counted: number, bound: number): number | null {
    if (this.#chance.happens(0.5)) return null;
    return counted > 0 ? counted : this.#chance.between(1, bound);
  }
}
