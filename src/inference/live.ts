/** Answers under way in this process: what a shutdown waits for, and ends when it has waited long enough. */
import { sleep, type Clock } from "../kernel/clock.ts";
import { liveLookMs } from "../limits/constants.ts";
import { Stop } from "../kernel/stop.ts";

export class LiveAnswers {
  readonly #live = new Set<Stop>();
  #whenEmpty: (() => void)[] = [];

  get size(): number {
    return this.#live.size;
  }

  /** Begins an answer, which is told when the process cannot wait any longer; call `done` when it has ended. */
  begin(): Stop {
    const answer = new Stop();
    this.#live.add(answer);
    return answer;
  }

  done(answer: Stop): void {
    this.#live.delete(answer);
    if (this.#live.size === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Resolves when all that are under way now have ended, or after `waitMs`; others may have begun meanwhile. */
  async presentEnded(clock: Clock, waitMs: number): Promise<void> {
    const present = [...this.#live];
    const endsAt = clock.monotonic() + waitMs;
    while (clock.monotonic() < endsAt && present.some((one) => this.#live.has(one))) await sleep(clock, liveLookMs);
  }

  /** Waits for all to end by themselves; after `waitMs` ends the rest and waits for their settlements. */
  async drain(clock: Clock, waitMs: number, endMs: number): Promise<void> {
    await this.#empty(clock, waitMs);
    for (const answer of this.#live) answer.stop();
    await this.#empty(clock, endMs);
  }

  async #empty(clock: Clock, waitMs: number): Promise<void> {
    if (this.#live.size === 0) return;
    await Promise.race([new Promise<void>((resolve) => this.#whenEmpty.push(resolve)), sleep(clock, waitMs)]);
  }
}
