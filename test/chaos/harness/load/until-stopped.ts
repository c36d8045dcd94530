/** Repeats an action during the load, and retries it when its outcome is unknown. */
import { sleep, systemClock } from "../../../../src/kernel/clock.ts";

/** The pause after each turn, and before a retry. */
const everyMs = 1_500;

export class UntilStopped {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  /** @param turn the nth action; returns false when there is nothing left to do. When it rejects, it is repeated */
  constructor(turn: (n: number) => Promise<boolean>) {
    this.#done = this.#run(turn);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #run(turn: (n: number) => Promise<boolean>): Promise<void> {
    const { signal } = this.#stopping;
    for (let n = 0; !signal.aborted;) {
      const outcome = await turn(n).catch(() => null);
      if (outcome === false) return;
      if (outcome) n++;
      await sleep(systemClock, everyMs, signal);
    }
  }
}
