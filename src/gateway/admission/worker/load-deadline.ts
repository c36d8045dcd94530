/** The total time that a message may wait for counters that are being loaded. */
import { sleep, type Clock } from "../../../kernel/clock.ts";
import { loadDeadlineMs } from "../../limits.ts";

/** A new workspace may lack its counters, and after their load the key's month total: one load follows the other. */
export const loadRoundsMax = 3;

export class LoadDeadline {
  readonly #clock: Clock;
  readonly #endsAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endsAt = clock.monotonic() + loadDeadlineMs;
  }

  /** @returns whether a retry makes sense: false when the time ran out or nothing could be loaded */
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
