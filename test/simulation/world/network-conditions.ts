/** What the simulated network does to messages: it delays, loses and doubles some of them. */
import type { Chance } from "../chance.ts";

export interface MessageFaultRates {
  /** The longest delay of an ordinary message, in milliseconds. */
  delayMsMax: number;
  slow: { chance: number; msMax: number };
  /** The share of requests, and of replies, that never arrive. */
  lost: number;
  /** The share of messages that arrive twice. */
  twice: number;
}

export const healthyRates: MessageFaultRates = { delayMsMax: 2, slow: { chance: 0, msMax: 0 }, lost: 0, twice: 0 };

/** Some runs have a healthy network, so that a failure there has another cause. */
function randomRates(chance: Chance): MessageFaultRates {
  const isBad = chance.happens(0.8);
  return {
    delayMsMax: chance.pick([1, 3, 10, 40]),
    slow: isBad ? { chance: chance.pick([0, 0.02, 0.1, 0.3]), msMax: chance.pick([150, 600, 3_000]) } : healthyRates.slow,
    lost: isBad ? chance.pick([0, 0.01, 0.05, 0.15]) : 0,
    twice: isBad ? chance.pick([0, 0.05, 0.2]) : 0,
  };
}

export class NetworkConditions {
  rates: MessageFaultRates;
  readonly #chance: Chance;
  /** How many messages were lost, late or doubled. */
  harmed = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.rates = randomRates(chance);
  }

  delayMs(): number {
    const { delayMsMax, slow } = this.rates;
    if (!this.#harms(slow.chance)) return this.#chance.next() * delayMsMax;
    return this.#chance.next() * slow.msMax;
  }

  isLost(): boolean {
    return this.#harms(this.rates.lost);
  }

  isDoubled(): boolean {
    return this.#harms(this.rates.twice);
  }

  #harms(probability: number): boolean {
    const harms = this.#chance.happens(probability);
    if (harms) this.harmed++;
    return harms;
  }
}
