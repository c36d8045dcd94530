/** Something that is done again and again beside the load, and tried again where its outcome is not known. */
import { sleep, systemClock } from "../../../../src/kernel/clock.ts";

/** How long to wait after each turn, and before the next try. */
const everyMs = 1_500;

export class UntilStopped {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  /** @param turn does it for the nth time; false: there is nothing left to do. Where it rejects it is done again */
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
