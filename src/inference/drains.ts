/** How many answers are read to their end although nobody waits for them any more. */
import { drainsMax } from "../limits/constants.ts";

export class Drains {
  #active = 0;

  get active(): number {
    return this.#active;
  }

  /** @returns what gives the place back, or null when too many are under way */
  take(): (() => void) | null {
    if (this.#active >= drainsMax) return null;
    this.#active++;
    let taken = true;
    return () => {
      if (taken) this.#active--;
      taken = false;
    };
  }
}
