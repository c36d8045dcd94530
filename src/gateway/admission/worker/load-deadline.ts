/** How long a message waits for counters that are being loaded, over all the times that it has to. */
import { sleep, type Clock } from "../../../kernel/clock.ts";
import { loadDeadlineMs } from "../../limits.ts";

/** A new workspace may lack all of it, then what the key spent: loaded one after the other. */
export const loadRoundsMax = 3;

export class LoadDeadline {
  readonly #clock: Clock;
  readonly #endsAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endsAt = clock.monotonic() + loadDeadlineMs;
  }

  /** @returns whether asking again is of use: false when it ran out first, or nothing could be loaded */
  async wait(loads: Promise<boolean>[]): Promise<boolean> {
    if (loads.length === 0) return true;
    const leftMs = this.#endsAt - this.#clock.monotonic();
    if (leftMs <= 0) return false;
    const stop = new AbortController();
    const loaded = Promise.all(loads).then((all) => all.includes(true));
    const ended = await Promise.race([loaded, sleep(this.#clock, leftMs, stop.signal).then(() => false)]);
    stop.abort();
    return ended;
  }
}
