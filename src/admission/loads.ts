/** Loads of counters under way, one at a time for each thing that is loaded. A load that fails is tried again by the next who asks. */
import { withDeadline, type Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/log.ts";
import { rebuildWaitMs } from "../limits/constants.ts";

export class Loads {
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Resolves when it is loaded or has failed: who waits asks the counters again either way. */
  run(what: string, load: () => Promise<void>): Promise<void> {
    const present = this.#underWay.get(what);
    if (present) return present;
    const running = withDeadline(this.#clock, rebuildWaitMs, `Loading ${what}`, load())
      .catch((error: unknown) =>
        this.#log.warn({ event: "counters.load.failed", what, reason: String(error) }, "Counters could not be loaded"),
      )
      .finally(() => this.#underWay.delete(what));
    this.#underWay.set(what, running);
    return running;
  }
}
