/** How a key is used, from which follows what is asked for it. */
import type { NanoUsd } from "../../../kernel/money.ts";
import { blockLifeMs, blockPlacesMin } from "../../../backing/limits.ts";
import { blockDemandMs, blockIdleMs, blockKeptPauseMs, blockUnusedPauseMsMax } from "../limits.ts";

export interface Wish {
  amount: NanoUsd;
  places: number;
}

/** By which part a request moves the averages. That a key became busy is learnt faster than that it no longer is. */
const weight = 0.2;
const busierWeight = 0.5;
/** Requests are not even: a block has some more places and credit than the averages need. */
const reserve = 1.5;
/** Lending and returning a block cost as much as two questions. */
const requestsMin = 4;
/** A key has ended its burst when nothing came for so many times the usual pause. */
const pausesMax = 6;

export class KeyDemand {
  #lastAt = -Infinity;
  /** Nothing is lent for a key's first requests. */
  #gapMs = 2 * blockDemandMs;
  #amount = 0;
  #keptUntil = -Infinity;
  /** After the next block that serves too few requests. */
  #unusedPauseMs = blockKeptPauseMs;

  /** @param now monotonic ms */
  note(amount: NanoUsd, now: number): void {
    const gapMs = Math.min(now - this.#lastAt, 2 * blockDemandMs);
    this.#lastAt = now;
    this.#gapMs += (gapMs < this.#gapMs ? busierWeight : weight) * (gapMs - this.#gapMs);
    const value = Number(amount);
    this.#amount = this.#amount === 0 ? value : this.#amount + weight * (value - this.#amount);
  }

  /** Nothing was lent: it is not asked for again at once. */
  kept(now: number): void {
    this.#keptUntil = now + blockKeptPauseMs;
  }

  /**
   * A block was not renewed. One that served few requests cost more than it saved: the key is asked for one by one for a while, which grows
   * as long as its blocks do not pay.
   */
  ended(requests: number, now: number): void {
    if (requests >= requestsMin) {
      this.#unusedPauseMs = blockKeptPauseMs;
      return;
    }
    this.#keptUntil = now + this.#unusedPauseMs;
    this.#unusedPauseMs = Math.min(2 * this.#unusedPauseMs, blockUnusedPauseMsMax);
  }

  /** Milliseconds without a request after which a block is returned. */
  get idleMs(): number {
    return Math.max(blockIdleMs, pausesMax * this.#gapMs);
  }

  /** What the key's next requests need; null: it makes too few. */
  wish(now: number): Wish | null {
    if (this.#gapMs >= blockDemandMs || now < this.#keptUntil) return null;
    const places = Math.max(blockPlacesMin, Math.ceil((reserve * blockLifeMs) / Math.max(1, this.#gapMs)));
    return { places, amount: BigInt(Math.ceil(this.#amount * reserve * places)) };
  }
}
