/** How a key is used, from which follows what is asked for it. */
import type { NanoUsd } from "../../../kernel/money.ts";
import { blockLifeMs, blockPlacesMin } from "../../../backing/limits.ts";
import { blockDemandMs, blockKeptPauseMs } from "../limits.ts";

export interface Wish {
  amount: NanoUsd;
  places: number;
}

/** Recent requests weigh more: each moves the averages by this part. */
const weight = 0.2;
/** Requests are not even: a block has some more places and credit than the averages need. */
const reserve = 1.5;

export class KeyDemand {
  #lastAt = -Infinity;
  /** A new key shows by some requests that it is busy; one that was busy before is again at its first request after a pause. */
  #gapMs = 4 * blockDemandMs;
  #amount = 0;
  #keptUntil = -Infinity;

  /** @param now monotonic ms */
  note(amount: NanoUsd, now: number): void {
    const gapMs = Math.min(now - this.#lastAt, 2 * blockDemandMs);
    this.#lastAt = now;
    this.#gapMs += weight * (gapMs - this.#gapMs);
    const value = Number(amount);
    this.#amount = this.#amount === 0 ? value : this.#amount + weight * (value - this.#amount);
  }

  /** Nothing was lent: it is not asked for again at once. */
  kept(now: number): void {
    this.#keptUntil = now + blockKeptPauseMs;
  }

  /** What the key's next requests need; null: it makes too few. */
  wish(now: number): Wish | null {
    if (this.#gapMs >= blockDemandMs || now < this.#keptUntil) return null;
    const places = Math.max(blockPlacesMin, Math.ceil((reserve * blockLifeMs) / Math.max(1, this.#gapMs)));
    return { places, amount: BigInt(Math.ceil(this.#amount * reserve * places)) };
  }
}
