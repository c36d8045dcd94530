/** What happens to messages on their way. */
import type { Chance } from "./chance.ts";

export interface Weather {
  /** Of most messages, in milliseconds. */
  delayMsMax: number;
  slow: { chance: number; msMax: number };
  /** Of requests, and of replies, that never arrive. */
  lost: number;
  /** Of messages that arrive twice. */
  twice: number;
}

export const calm: Weather = { delayMsMax: 2, slow: { chance: 0, msMax: 0 }, lost: 0, twice: 0 };

/** Some runs are calm, so that what goes wrong there has another cause. */
export function someWeather(chance: Chance): Weather {
  const isRough = chance.happens(0.8);
  return {
    delayMsMax: chance.pick([1, 3, 10, 40]),
    slow: isRough ? { chance: chance.pick([0, 0.02, 0.1, 0.3]), msMax: chance.pick([150, 600, 3_000]) } : calm.slow,
    lost: isRough ? chance.pick([0, 0.01, 0.05, 0.15]) : 0,
    twice: isRough ? chance.pick([0, 0.05, 0.2]) : 0,
  };
}

export class Sky {
  weather: Weather;
  readonly #chance: Chance;
  /** How many messages were lost, late or doubled. */
  harmed = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.weather = someWeather(chance);
  }

  delayMs(): number {
    const { delayMsMax, slow } = this.weather;
    if (!this.#harms(slow.chance)) return this.#chance.next() * delayMsMax;
    return this.#chance.next() * slow.msMax;
  }

  isLost(): boolean {
    return this.#harms(this.weather.lost);
  }

  comesTwice(): boolean {
    return this.#harms(this.weather.twice);
  }

  #harms(probability: number): boolean {
    const harms = this.#chance.happens(probability);
    if (harms) this.harmed++;
    return harms;
  }
}
